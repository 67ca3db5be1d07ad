package dev.culvert.client.identity;

import dev.culvert.certs.KeyProof;
import dev.culvert.protocol.frame.Hello.Nonce;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A certificate with the proof of its key, for one session (docs/protocol.md §4.1). The receiver owns both
 * arrays.
 *
 * @param certificate the certificate in DER
 * @param signature the signature by its key over the session's nonces
 */
@SuppressWarnings("ArrayRecordComponent")
public // passed on, never compared
record SessionProof(byte[] certificate, byte[] signature) {

    /**
     * Creates the proof of another certificate during a session. Signs off the event loops. Errors: {@link
     * dev.culvert.certs.CertsException}.
     */
    public static Mono<SessionProof> of(Identity identity, Nonce server, Nonce client) {
        return signed(identity,
                certificate -> KeyProof.session(server.bytes(), client.bytes(), certificate));
    }

    /** Creates the proof of the first certificate for the server {@code host}; otherwise like {@link #of}. */
    public static Mono<SessionProof> opening(Identity identity, Nonce server, Nonce client, String host) {
        return signed(identity,
                certificate -> KeyProof.opening(server.bytes(), client.bytes(), certificate, host));
    }

    private static Mono<SessionProof> signed(Identity identity, Function<byte[], KeyProof> proofOf) {
        return Mono.fromCallable(() -> {
            byte[] certificate = identity.material().leaf().getEncoded();
            KeyProof proof = proofOf.apply(certificate);
            return new SessionProof(certificate, proof.sign(identity.material().key()));
        }).subscribeOn(Schedulers.boundedElastic());
    }
}
