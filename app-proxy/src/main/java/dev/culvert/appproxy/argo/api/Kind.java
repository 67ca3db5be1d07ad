package dev.culvert.appproxy.argo.api;

/** The changeable custom resources, all of group {@code argoproj.io/v1alpha1}. */
public enum Kind {
    WORKFLOW("workflows"), ROLLOUT("rollouts"), APPLICATION("applications");

    private final String plural;

    Kind(String plural) {
        this.plural = plural;
    }

    /** How errors name one, as {@code workflow}. */
    public String singular() {
        return plural.substring(0, plural.length() - 1);
    }

    /** The path of all objects of a namespace in the Kubernetes API. */
    String path(String namespace) {
        return "/apis/argoproj.io/v1alpha1/namespaces/" + namespace + "/" + plural;
    }

    /** The path of one object in the Kubernetes API. */
    String path(ObjectKey key) {
        return path(key.namespace()) + "/" + key.name();
    }
}
