package dev.culvert.appproxy.argo.workflow;

import java.util.Locale;

/** A change of a workflow, named as in permission rules. */
enum WorkflowChange {
    TERMINATE, STOP, SUSPEND, RESUME, RETRY, RESUBMIT;

    /** The last segment of the path in Argo's own API. */
    String verb() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The value of Argo's label for the latest action. */
    String label() {
        return name().charAt(0) + verb().substring(1);
    }
}
