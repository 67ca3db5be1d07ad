package dev.culvert.platform.host.store;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request that its caller may send again, because it named it ({@code Idempotency-Key}). Passed under its
 * class in the Reactor context of {@link PlatformStore#change}: the first change stores the name, so that no
 * change with the same name is made twice.
 */
public final class RepeatableRequest {
    private final String account;
    private final String caller;
    private final String key;
    private final String digest;
    private final Function<Object, @Nullable String> rendering;
    private final AtomicBoolean isStored = new AtomicBoolean();

    /**
     * @param account the account that it changes
     * @param caller its caller, in that account or another
     * @param key a hash of the name
     * @param digest of all that the request says
     * @param rendering makes the answer's body of what the change gave; null: it can't be shown twice
     */
    public RepeatableRequest(String account, String caller, String key, String digest,
            Function<Object, @Nullable String> rendering) {
        this.account = account;
        this.caller = caller;
        this.key = key;
        this.digest = digest;
        this.rendering = rendering;
    }

    /** The change was made before. Rolls back the change that would repeat it. */
    public static final class Repeated extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final boolean isSame;
        private final @Nullable String body;

        Repeated(boolean isSame, @Nullable String body) {
            super("the request was made before", null, false, false);
            this.isSame = isSame;
            this.body = body;
        }

        /** Whether it is the same request, and not another with its name. */
        public boolean isSame() {
            return isSame;
        }

        /** The body of the first answer; null: it can't be shown twice. */
        public @Nullable String body() {
            return body;
        }
    }

    /** Too many named requests of the account are younger than 15 minutes. Rolls back the change. */
    public static final class TooMany extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooMany(int most) {
            super("the account made " + most + " requests with an Idempotency-Key within 15 minutes; wait, or"
                    + " leave it out", null, false, false);
        }
    }

    String account() {
        return account;
    }

    String caller() {
        return caller;
    }

    String key() {
        return key;
    }

    String digest() {
        return digest;
    }

    @Nullable
    String body(Object result) {
        return rendering.apply(result);
    }

    /** Whether its change is committed: further changes of the request are not its own. */
    boolean isStored() {
        return isStored.get();
    }

    void stored() {
        isStored.set(true);
    }
}
