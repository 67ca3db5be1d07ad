package dev.culvert.platform.host.spi;

import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Runs pipelines. Offered by the module that has them; without it nothing runs, and whoever wants to start
 * something keeps it as recorded.
 */
public interface PipelineRuns {
    /** What a platform without pipelines offers. */
    PipelineRuns NONE = new PipelineRuns() {
        @Override
        public boolean isOffered() {
            return false;
        }

        @Override
        public Mono<Void> require(String account, String pipeline) {
            return Mono.empty();
        }

        @Override
        public Mono<String> start(Start start) {
            return Mono.error(new IllegalStateException("no module has pipelines"));
        }
    };

    /** Whether a module has pipelines. */
    default boolean isOffered() {
        return true;
    }

    /**
     * Completes if the account has this pipeline. Errors: HandlerException with NOT_FOUND, also for one of
     * another account; {@link dev.culvert.store.StoreException}. Without pipelines every name completes.
     */
    Mono<Void> require(String account, String pipeline);

    /**
     * Starts a pipeline and emits the id of the run. With a key that was used before in this account, it
     * starts nothing and emits the first run's id. Errors: HandlerException with NOT_FOUND or BAD_REQUEST,
     * with which it will never start; others, with which it may be tried again.
     */
    Mono<String> start(Start start);

    /**
     * What to start.
     *
     * @param pipeline its name, {@code project/name}
     * @param variables by name, 64 KiB together at most
     * @param cause what started it, for people
     * @param key the same key starts once
     */
    record Start(String account, String pipeline, Map<String, String> variables, String cause, String key) {
        public Start {
            variables = Map.copyOf(variables);
        }
    }
}
