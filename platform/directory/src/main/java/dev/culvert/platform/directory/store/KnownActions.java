package dev.culvert.platform.directory.store;

import java.util.Set;
import java.util.TreeSet;

/** The actions of rules and queries. Unlisted actions can't be allowed. */
public final class KnownActions {
    public static final Set<String> ACTIONS = Set.of("ACCESS_ARTIFACTS", "ACCESS_LOGS", "APP_ROLLBACK",
            "CREATE",
            "DELETE",
            "DELETE_RESOURCE", "EXEC_TO_POD", "PROMOTE_TO", "REFRESH", "RESTART", "RESUBMIT", "RESUME",
            "RETRY",
            "RETRY_RELEASE", "ROLLOUT_ABORT", "ROLLOUT_PAUSE", "ROLLOUT_PROMOTE_FULL", "ROLLOUT_RESTART",
            "ROLLOUT_RESUME", "ROLLOUT_RETRY", "ROLLOUT_SKIP_CURRENT_STEP", "STOP", "SUSPEND", "SYNC",
            "TERMINATE",
            "TERMINATE_SYNC", "TRIGGER_PROMOTION", "UPDATE", "VIEW", "VIEW_POD_LOGS");

    public static final Set<String> ENTITIES = Set.of("gitopsApplications", "rollouts", "workflows",
            "workflowTemplates", "clusters",
            "sharedConfiguration", "products", "promotionFlows", "environments", "gitContexts",
            "gitRepositories",
            "gitSources", "pipelines", "projects", "helmCharts", "executionContext");

    static final Set<String> ATTRIBUTES = Set.of("cluster", "namespace", "runtime", "gitSource", "label",
            "product", "integration", "repository", "branch", "path", "name", "project",
            "sourceRepository", "sourcePath", "sourceRevision");

    private KnownActions() {}

    /** Throws IllegalArgumentException naming the whole list. */
    static String require(String field, String word, Set<String> known) {
        if (!known.contains(word)) {
            throw new IllegalArgumentException(
                    field + ": unknown word (expected: one of " + new TreeSet<>(known) + ")");
        }
        return word;
    }
}
