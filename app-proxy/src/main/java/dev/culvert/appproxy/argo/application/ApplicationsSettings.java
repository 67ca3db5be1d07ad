package dev.culvert.appproxy.argo.application;

import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.workflow.WorkflowsSettings;
import dev.culvert.config.Setting;
import org.jspecify.annotations.Nullable;

/**
 * The {@code applications} handler.
 *
 * @param argoCd the Argo CD server; null to change the custom resources
 * @param kubernetes the Kubernetes API; null for that of the pod's service account
 * @param cluster the name of the cluster in rules
 * @param namespace where applications live of which no namespace is given
 * @param maxStreams logs at the same time
 */
public record ApplicationsSettings(
        @Setting("The Argo CD server; without it the custom resources are changed through the Kubernetes API") @Nullable ApiSettings argoCd,
        @Setting("The Kubernetes API; without it the one of the pod's service account") @Nullable ApiSettings kubernetes,
        @Setting(value = "Name of the cluster in permission rules", byDefault = "in-cluster") String cluster,
        @Setting(value = "Namespace of applications of which none is given", byDefault = "argocd") String namespace,
        @Setting(value = "Logs at the same time; beyond it 503", byDefault = "64", accepts = "1..4096") int maxStreams) {
    public ApplicationsSettings {
        WorkflowsSettings.checkStreams(maxStreams);
    }
}
