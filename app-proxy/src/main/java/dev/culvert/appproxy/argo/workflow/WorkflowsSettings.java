package dev.culvert.appproxy.argo.workflow;

import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import org.jspecify.annotations.Nullable;

/**
 * The {@code workflows} handler.
 *
 * @param argoWorkflows the Argo server; null to change the custom resources
 * @param kubernetes the Kubernetes API; null for that of the pod's service account
 * @param cluster the name of the cluster in rules
 * @param maxStreams logs and event streams at the same time
 */
public record WorkflowsSettings(
        @Setting("The Argo server; without it the custom resources are changed through the Kubernetes API") @Nullable ApiSettings argoWorkflows,
        @Setting("The Kubernetes API; without it the one of the pod's service account") @Nullable ApiSettings kubernetes,
        @Setting(value = "Name of the cluster in permission rules", byDefault = "in-cluster") String cluster,
        @Setting(value = "Log and event streams at the same time; beyond it 503", byDefault = "64", accepts = "1..4096") int maxStreams) {
    public WorkflowsSettings {
        checkStreams(maxStreams);
    }

    public static void checkStreams(int maxStreams) {
        if (maxStreams < 1 || maxStreams > 4096) {
            throw new ConfigException("maxStreams", "1..4096; remove the key for the default 64");
        }
    }
}
