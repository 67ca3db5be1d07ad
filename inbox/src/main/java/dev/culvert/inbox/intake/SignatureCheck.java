package dev.culvert.inbox.intake;

import dev.culvert.relay.route.SigningSecrets;
import dev.culvert.relay.route.Verification;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Verifies a provider's signature over the raw bytes of a body. Compares in constant time. With several
 * secrets, during a rotation, it tries each. Immutable; the check of one request belongs to one thread at a
 * time.
 */
final class SignatureCheck {
    static final int MAX_SECRETS = SigningSecrets.MAX_SECRETS;
    /** The tolerance that Standard Webhooks recommends against replays. */
    private static final Duration TOLERANCE = Duration.ofMinutes(5);
    private static final String ALGORITHM = "HmacSHA256";
    private static final String HEX_PREFIX = "sha256=";
    /** The prefix of a Standard Webhooks secret; base64 follows. */
    private static final String SECRET_PREFIX = "whsec_";
    private static final int MAX_SIGNATURES = 8;

    private final Verification.Provider provider;
    private final List<byte[]> secrets;
    private final Clock clock;

    /**
     * @param secrets the secrets to try, of which the first {@link #MAX_SECRETS} count; empty: every webhook
     *     is refused
     */
    SignatureCheck(Verification.Provider provider, List<byte[]> secrets, Clock clock) {
        this.provider = provider;
        this.secrets = secrets;
        this.clock = clock;
    }

    /** The verification of one request. */
    interface Running {
        /** Adds bytes of the body, in order. */
        void update(ByteBuffer body);

        /**
         * Returns what identifies the webhook beside its body: the id that the provider of the signature
         * sets, which other ids do not replace.
         *
         * @param given the id of a webhook without one; null: none
         */
        @Nullable
        String key(@Nullable String given);

        /** Whether the signature is valid. Call once, after the last byte. */
        boolean matches();
    }

    /** Begins the verification of a request with its head. */
    Running begin(Http2Headers fields) {
        List<byte[]> known = secrets.stream().limit(MAX_SECRETS).toList();
        return switch (provider) {
            case GITHUB ->
                hex(known, field(fields, "x-hub-signature-256"), field(fields, "x-github-delivery"));
            case BITBUCKET -> hex(known, field(fields, "x-hub-signature"), field(fields, "x-request-uuid"));
            case GITLAB -> plain(known, field(fields, "x-gitlab-token"));
            case DOCKER_HUB -> plain(known, secretOf(fields.path()));
            case STANDARD_WEBHOOKS -> standard(known, fields);
        };
    }

    @Override
    public String toString() {
        return provider.toString();
    }

    private static Running hex(List<byte[]> secrets, @Nullable String given, @Nullable String id) {
        if (given == null || !given.startsWith(HEX_PREFIX)) {
            return Decided.NO;
        }
        try {
            byte[] signature = HexFormat.of().parseHex(given, HEX_PREFIX.length(), given.length());
            return new Macs(secrets, List.of(signature), id);
        } catch (IllegalArgumentException noHex) {
            return Decided.NO;
        }
    }

    private static Running plain(List<byte[]> secrets, @Nullable String given) {
        boolean right = false;
        if (given != null) {
            byte[] token = given.getBytes(StandardCharsets.ISO_8859_1);
            for (byte[] secret : secrets) {
                right |= secret.length > 0 && MessageDigest.isEqual(secret, token);
            }
        }
        return right ? Decided.YES : Decided.NO;
    }

    private Running standard(List<byte[]> secrets, Http2Headers fields) {
        String id = field(fields, "webhook-id");
        String time = field(fields, "webhook-timestamp");
        String given = field(fields, "webhook-signature");
        if (id == null || time == null || given == null || !isNear(time)) {
            return Decided.NO;
        }
        List<byte[]> signatures = new ArrayList<>();
        for (String one : given.split(" ", MAX_SIGNATURES + 1)) {
            if (one.startsWith("v1,") && signatures.size() < MAX_SIGNATURES) {
                byte[] decoded = base64(one.substring(3));
                if (decoded != null) {
                    signatures.add(decoded);
                }
            }
        }
        var macs = new Macs(secrets.stream().map(SignatureCheck::key).toList(), signatures, id);
        macs.update(ByteBuffer.wrap((id + "." + time + ".").getBytes(StandardCharsets.ISO_8859_1)));
        return macs;
    }

    private boolean isNear(String seconds) {
        try {
            long away = Math.abs(clock.instant().getEpochSecond() - Long.parseLong(seconds));
            return away >= 0 && away <= TOLERANCE.toSeconds();
        } catch (NumberFormatException noTime) {
            return false;
        }
    }

    private static byte[] key(byte[] secret) {
        String text = new String(secret, StandardCharsets.ISO_8859_1);
        byte[] decoded = text.startsWith(SECRET_PREFIX)
                ? base64(text.substring(SECRET_PREFIX.length()))
                : null;
        return decoded == null ? secret : decoded;
    }

    private static byte @Nullable [] base64(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException none) {
            return null;
        }
    }

    /**
     * Returns the value of a field that occurs exactly once. Of two, the one that the provider set is
     * unknown.
     */
    private static @Nullable String field(Http2Headers fields, String name) {
        List<CharSequence> values = fields.getAll(name);
        return values.size() == 1 ? values.getFirst().toString() : null;
    }

    private static @Nullable String secretOf(@Nullable CharSequence path) {
        String text = String.valueOf(path);
        int query = text.indexOf('?');
        if (query < 0) {
            return null;
        }
        for (String pair : text.substring(query + 1).split("&", -1)) {
            if (pair.startsWith("secret=")) {
                return pair.substring("secret=".length());
            }
        }
        return null;
    }

    /** A verification whose result does not depend on the body. */
    private enum Decided implements Running {
        YES, NO;

        @Override
        public void update(ByteBuffer body) {}

        /** Nothing is signed: whoever knows the secret may write any body. */
        @Override
        public @Nullable String key(@Nullable String given) {
            return given;
        }

        @Override
        public boolean matches() {
            return this == YES;
        }
    }

    private static final class Macs implements Running {
        private final List<Mac> macs;
        private final List<byte[]> signatures;
        private final @Nullable String id;

        /** @param id the provider's id; null: it sent none */
        Macs(List<byte[]> secrets, List<byte[]> signatures, @Nullable String id) {
            this.id = id;
            this.signatures = signatures;
            this.macs = signatures.isEmpty()
                    ? List.of()
                    : secrets.stream().filter(secret -> secret.length > 0).map(Macs::mac).toList();
        }

        @Override
        public void update(ByteBuffer body) {
            macs.forEach(mac -> mac.update(body.duplicate()));
        }

        @Override
        public @Nullable String key(@Nullable String given) {
            return id == null || id.isEmpty() ? given : id;
        }

        @Override
        public boolean matches() {
            boolean right = false;
            for (Mac mac : macs) {
                byte[] expected = mac.doFinal();
                for (byte[] signature : signatures) {
                    right |= MessageDigest.isEqual(expected, signature);
                }
            }
            return right;
        }

        private static Mac mac(byte[] secret) {
            try {
                Mac mac = Mac.getInstance(ALGORITHM);
                mac.init(new SecretKeySpec(secret, ALGORITHM));
                return mac;
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java has " + ALGORITHM, e);
            }
        }
    }
}
