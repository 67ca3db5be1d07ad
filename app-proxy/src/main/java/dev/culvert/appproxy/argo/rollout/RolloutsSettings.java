package dev.culvert.appproxy.argo.rollout;

import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.config.Setting;
import org.jspecify.annotations.Nullable;

/**
 * The {@code rollouts} handler.
 *
 * @param argoRollouts the Rollouts API; null to change the custom resources
 * @param kubernetes the Kubernetes API; null for that of the pod's service account
 * @param cluster the name of the cluster in rules
 */
public record RolloutsSettings(
        @Setting("The API of Argo Rollouts (its dashboard); without it, and for what it lacks, the custom resources are changed") @Nullable ApiSettings argoRollouts,
        @Setting("The Kubernetes API; without it the one of the pod's service account") @Nullable ApiSettings kubernetes,
        @Setting(value = "Name of the cluster in permission rules", byDefault = "in-cluster") String cluster) {}
