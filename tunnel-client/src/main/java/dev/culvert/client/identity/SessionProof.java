package dev.culvert.client.identity;

import dev.culvert.certs.KeyProof;
import dev.culvert.protocol.frame.Hello.Nonce;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A certificate with the proof of its key, for one session (docs/protocol.md §4.1). Whoever gets it owns both arrays.
 *
 * @param certificate DER
 * @param signature by its key, over the session's nonces
 */
@SuppressWarnings("ArrayRecordComponent")
public // handed on, never compared
record SessionProof(byte[] certificate, byte[] signature) {

    /** Of another certificate. Signs off the event loops. Errors: {@link dev.culvert.certs.CertsException}. */
    public static Mono<SessionProof> of(Identity identity, Nonce server, Nonce client) {
        return signed(identity,
                certificate -> KeyProof.session(server.bytes(), client.bytes(), certificate));
    }

    /** Of the first certificate, to the server dialled as {@code host}; else as {@link #of}. */
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
