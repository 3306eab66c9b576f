package main

import "github.com/spf13/cobra"

// commands lists the commands in the order of the help text.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newDemoCommand(a),
		newInitCommand(a),
		newDoctorCommand(a),
		newGazetteerCommand(a),
		newCrawlCommand(a),
		newNodeCommand(a),
		newPlacesCommand(a),
		newStatusCommand(a),
		newCtlCommand(a),
		newServeCommand(a),
		newSearchCommand(a),
		newExportCommand(a),
		newPagesCommand(a),
		newReportCommand(a),
		newForgetCommand(a),
		newExplainCommand(a),
		newLabelCommand(a),
		newReplayCommand(a),
		newRetrainCommand(a),
		newModelCommand(a),
		newSimulateCommand(a),
		newGeoparseCommand(a),
		newClickstreamCommand(a),
		newConfigCommand(a),
		newVersionCommand(a),
	}
}
