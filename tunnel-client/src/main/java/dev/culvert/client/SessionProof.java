package dev.culvert.client;

import dev.culvert.certs.KeyProof;
import dev.culvert.protocol.frame.Hello.Nonce;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A certificate with the proof of its key, for one session (docs/protocol.md §4.1). Whoever gets it owns both arrays.
 *
 * @param certificate DER
 * @param signature by its key, over the session's nonces
 */
@SuppressWarnings("ArrayRecordComponent") // handed on, never compared
record SessionProof(byte[] certificate, byte[] signature) {

    /** Signs off the event loops. Errors: {@link dev.culvert.certs.CertsException}. */
    static Mono<SessionProof> of(Identity identity, Nonce server, Nonce client) {
        return Mono.fromCallable(() -> {
            byte[] certificate = identity.material().leaf().getEncoded();
            KeyProof proof = KeyProof.session(server.bytes(), client.bytes(), certificate);
            return new SessionProof(certificate, proof.sign(identity.material().key()));
        }).subscribeOn(Schedulers.boundedElastic());
    }
}
