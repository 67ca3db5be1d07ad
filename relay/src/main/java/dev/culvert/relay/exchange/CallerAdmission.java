package dev.culvert.relay.exchange;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.relay.Admission;
import dev.culvert.relay.AdmittedRelay;
import dev.culvert.relay.Caller;
import dev.culvert.relay.Relay;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/** Adds a runtime's admission, if it has one, before its tunnel. */
final class CallerAdmission {
    private CallerAdmission() {}

    /** Returns the relay for a request, and prepares the request's fields for forwarding. */
    static Relay way(EdgeRuntimes.RuntimeEndpoint runtime, EdgeRequestHead head, ForwardingRules.Peer peer,
            EdgeStream stream) {
        Relay target = runtime.relay();
        Admission admission = runtime.admission();
        if (admission == null) {
            return target;
        }
        var address = stream.shared().rules().caller(head.fields(), peer);
        return new AdmittedRelay(admission, caller(address, stream), target);
    }

    private static Caller caller(@Nullable InetAddress address, EdgeStream stream) {
        SslHandler handler = stream.channel().pipeline().get(SslHandler.class);
        if (handler == null) {
            return new Caller(address, null, false);
        }
        SSLEngine tls = handler.engine();
        return new Caller(address, tls.getSession(), tls.getWantClientAuth());
    }
}
