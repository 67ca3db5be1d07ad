package dev.culvert.appproxy.git;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * What a push may do beyond adding commits, branches and tags.
 *
 * @param caller the caller, for hooks and the reflog; null: unknown
 * @param deletes whether it may delete refs
 * @param rewrites whether it may drop commits from branches
 * @param foreign whether it names a ref that is neither a branch nor a tag: Git takes none of its changes
 */
record PushRights(@Nullable AuthenticatedCaller caller, boolean deletes, boolean rewrites, boolean foreign) {
    static final PushRights NONE = new PushRights(null, false, false);

    PushRights(@Nullable AuthenticatedCaller caller, boolean deletes, boolean rewrites) {
        this(caller, deletes, rewrites, false);
    }

    /** These rights for a push with such updates. */
    PushRights over(List<RefUpdate> updates) {
        return new PushRights(caller, deletes, rewrites, !updates.stream().allMatch(RefUpdate::isTaken));
    }

    /** Decides on a push before its process starts. */
    @FunctionalInterface
    interface Rules {
        /** Emits the rights. Errors: HandlerException for a push that is refused as a whole. */
        Mono<PushRights> of(List<RefUpdate> updates);
    }
}
