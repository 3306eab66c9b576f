package main

var strategyNames = []string{"adaptive", "link-distance", "breadth-first"}
