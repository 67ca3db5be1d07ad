package dev.culvert.server.token;

import dev.culvert.admin.AdminCaller;
import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminToken;
import dev.culvert.certs.Sha256;
import dev.culvert.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Authenticates callers of the admin API by the token file's token, or by a named token, {@code
 * culvert_NAME.SECRET}. Callable on any thread; never blocks. Errors: {@link StoreException}.
 */
public final class AdminAccess {
    private static final String PREFIX = "culvert_";
    private static final int SECRET_BYTES = 32;

    private final AdminToken file;
    private final AdminTokenStore store;
    private final Clock clock;

    public AdminAccess(AdminToken file, AdminTokenStore store, Clock clock) {
        this.file = file;
        this.store = store;
        this.clock = clock;
    }

    /**
     * A new token with its text, which is shown only once.
     *
     * @param token the stored part
     * @param text the secret
     */
    public record Issued(NamedToken token, String text) {
        @Override
        public String toString() {
            return token.name() + " ***";
        }
    }

    /**
     * A presented token without its secret, by which its caller is found again later.
     *
     * @param name the name in the token; null: it names none, so only the file's can be equal
     * @param hash the hash of the whole text
     */
    public record Proof(@Nullable String name, Sha256 hash) {
        /** The proof of a presented token, whether it is valid or not. */
        public static Proof of(String presented) {
            int dot = presented.indexOf('.');
            return new Proof(dot > PREFIX.length() && presented.startsWith(PREFIX)
                    ? presented.substring(PREFIX.length(), dot)
                    : null, AdminAccess.hash(presented));
        }
    }

    /** Finds the caller of a presented token; empty when the token is unknown. Compares in constant time. */
    public Mono<AdminCaller> caller(String presented) {
        return caller(Proof.of(presented));
    }

    /** Finds the caller of a token, as it is valid now. As {@link #caller(String)}. */
    public Mono<AdminCaller> caller(Proof proof) {
        String name = proof.name;
        NamedToken token = name == null ? null : store.adminToken(name);
        if (token != null) {
            return token.accepts(proof.hash, clock.instant())
                    ? Mono.just(new AdminCaller(token.name(), token.role()))
                    : Mono.empty();
        }
        return file.matches(proof.hash)
                .flatMap(matches -> matches ? Mono.just(AdminCaller.BOOTSTRAP) : Mono.empty());
    }

    /** Makes a named token. Errors, beside the class's: InvalidNameException. */
    public Mono<Issued> create(String name, AdminRole role) {
        return Mono.fromCallable(() -> {
            String text = text(NamedToken.checked(name));
            return new Issued(new NamedToken(name, role, hash(text), now(), null, null), text);
        })
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(made -> store.createAdminToken(made.token()).thenReturn(made));
    }

    /** Replaces the secret of a token. The previous secret stays valid for {@code keep}. */
    public Mono<Issued> rotate(String name, Duration keep) {
        return Mono.fromCallable(() -> text(name))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(text -> store.replaceAdminToken(name, before -> {
                    Instant now = now();
                    return before.rotated(hash(text), now, now.plus(keep));
                }).map(kept -> new Issued(kept, text)));
    }

    /** The present time in the store's precision, milliseconds. */
    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    private static Sha256 hash(String text) {
        return Sha256.of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Blocks: Java reads random bytes from a file. */
    private static String text(String name) {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        return PREFIX + name + '.' + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    }
}
