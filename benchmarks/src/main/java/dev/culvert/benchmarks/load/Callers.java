package dev.culvert.benchmarks.load;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Makes the callers of a load, and what they share. */
final class Callers {
    /** Servers take 100 streams, and the next one of a caller may begin before its last one is forgotten. */
    private static final int CALLERS_OF_A_CONNECTION = 50;
    private static final int HTTP = 80;
    private static final int HTTPS = 443;

    private Callers() {}

    static List<Caller> of(Load load) {
        LoadPlan plan = load.plan;
        List<Caller> callers = new ArrayList<>(plan.callers());
        @Nullable
        SslContext tls = tls(plan);
        Http2Link shared = null;
        for (int i = 0; i < plan.callers(); i++) {
            if (plan.kind() == Kind.WEBSOCKET) {
                callers.add(new WebSocketCaller(load, tls));
            } else if (plan.http2()) {
                if (shared == null || i % CALLERS_OF_A_CONNECTION == 0) {
                    shared = new Http2Link(load, tls);
                }
                callers.add(new Http2Caller(load, shared));
            } else if (plan.kind() == Kind.EVENTS) {
                callers.add(new EventsCaller(load, tls));
            } else if (plan.kind() == Kind.STALLED) {
                callers.add(new StalledCaller(load, tls));
            } else {
                callers.add(new Http1Caller(load, tls));
            }
        }
        return callers;
    }

    private static @Nullable SslContext tls(LoadPlan plan) {
        if (!plan.url().getScheme().equals("https")) {
            return null;
        }
        SslContextBuilder builder = SslContextBuilder.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null);
        if (plan.http2()) {
            builder.applicationProtocolConfig(new ApplicationProtocolConfig(
                    ApplicationProtocolConfig.Protocol.ALPN,
                    ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                    ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                    ApplicationProtocolNames.HTTP_2));
        }
        try {
            return builder.build();
        } catch (SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    static InetSocketAddress address(URI url) {
        boolean secure = url.getScheme().equals("https");
        return new InetSocketAddress(url.getHost(),
                url.getPort() > 0 ? url.getPort() : secure ? HTTPS : HTTP);
    }

    /** The Host field of a load's requests. */
    static String host(LoadPlan plan) {
        return plan.host().isEmpty() ? plan.url().getRawAuthority() : plan.host();
    }

    /** The origin form of a URL's target (RFC 9112 §3.2.1). */
    static String target(URI url) {
        String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        return url.getRawQuery() == null ? path : path + "?" + url.getRawQuery();
    }
}
