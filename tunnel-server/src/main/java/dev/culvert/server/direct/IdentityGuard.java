package dev.culvert.server.direct;

import dev.culvert.http.forwarding.IdentityFields;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;

/**
 * Removes what a caller states about who it is, before the access rules of the host set the fields that they
 * have verified.
 */
record IdentityGuard(Relay target) implements Relay {
    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        IdentityFields.remove(request.fields());
        return target.open(request, response);
    }
}
