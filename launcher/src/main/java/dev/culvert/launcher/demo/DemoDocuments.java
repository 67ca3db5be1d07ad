package dev.culvert.launcher.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** The GraphQL documents that the demo sends to the App-Proxy and prints for users to send. */
final class DemoDocuments {
    static final String PATH = "/app-proxy/api/graphql";
    static final String REPOSITORIES = "{ gitRepositories { data { fullName defaultBranch } count hasNext } }";

    private static final ObjectMapper JSON = new ObjectMapper();

    private DemoDocuments() {}

    /** Writes a file of the repository {@code demo}, also if it exists. */
    static String commit(String path, String message) {
        return "mutation { commitFiles(args: { repo: \"demo\", branchName: \"main\", force: true, msg: \""
                + message
                + "\", files: [{ path: \"" + path + "\", data: \"" + message
                + "\" }] }) { sha message committer { name email } } }";
    }

    static String terminate(String workflow) {
        return change("terminateWorkflow", workflow);
    }

    static String stop(String workflow) {
        return change("stopWorkflow", workflow);
    }

    /** The request body of a document. */
    static String body(String document) {
        try {
            return JSON.writeValueAsString(Map.of("query", document));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(document, e);
        }
    }

    private static String change(String field, String workflow) {
        return "mutation { " + field + "(namespace: \"" + DemoCluster.NAMESPACE + "\", name: \"" + workflow
                + "\") { name phase shutdown } }";
    }
}
