package dev.culvert.platform.triggers.store;

import org.jspecify.annotations.Nullable;

/**
 * A start of a pipeline that an event caused.
 *
 * @param event the URI of the event
 * @param delivery the key of what happened: one start for each key and pipeline
 * @param variables JSON: texts by names
 * @param build the id that the pipelines' module gave it; null: none yet
 * @param why why it was not started; null: nothing is wrong
 * @param created in milliseconds since 1970
 */
public record StoredRun(String account, String id, String event, String delivery, String pipeline,
        String variables, State state, @Nullable String build, @Nullable String why, long created) {
    /** What became of it. */
    public enum State {
        /** There are no pipelines in this platform. */
        RECORDED,
        /** It will be started. */
        WAITING,
        /** The pipelines' module has it. */
        STARTED,
        /** It will not be started. */
        REFUSED
    }
}
