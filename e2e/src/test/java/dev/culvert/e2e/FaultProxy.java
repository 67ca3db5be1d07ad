package dev.culvert.e2e;

import dev.culvert.config.HostPort;
import eu.rekawek.toxiproxy.Proxy;
import eu.rekawek.toxiproxy.ToxiproxyClient;
import eu.rekawek.toxiproxy.model.Toxic;
import eu.rekawek.toxiproxy.model.ToxicDirection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** A TCP proxy in front of one address that does to connections what bad networks do. Faults hold in both directions. */
final class FaultProxy implements AutoCloseable {
    private final FaultServer server;
    private final Proxy proxy;

    private FaultProxy(FaultServer server, Proxy proxy) {
        this.server = server;
        this.proxy = proxy;
    }

    /** Starts one on whatever server there is: {@link FaultServer#start}. */
    static FaultProxy start(HostPort upstream) throws IOException {
        return start(FaultServer.start(), upstream);
    }

    /** Starts one on {@code server}, which it owns. Its name is no other's, should two tests share that server. */
    static FaultProxy start(FaultServer server, HostPort upstream) throws IOException {
        var client = new ToxiproxyClient(server.control().host(), server.control().port());
        try {
            return new FaultProxy(server, client.createProxy("tunnel-" + UUID.randomUUID(),
                    server.listen().toString(), server.reaches(upstream).toString()));
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    HostPort address() {
        return server.reached(HostPort.parse(proxy.getListen()));
    }

    /** Delays each piece by {@code latency}, give or take {@code jitter}. */
    void delay(Duration latency, Duration jitter) throws IOException {
        for (ToxicDirection direction : ToxicDirection.values()) {
            proxy.toxics()
                    .latency("latency-" + direction, direction, latency.toMillis())
                    .setJitter(jitter.toMillis());
        }
    }

    /** Lets so much through each second. */
    void limit(long kilobytesPerSecond) throws IOException {
        for (ToxicDirection direction : ToxicDirection.values()) {
            proxy.toxics().bandwidth("bandwidth-" + direction, direction, kilobytesPerSecond);
        }
    }

    /** Cuts what passes into pieces of about {@code bytes}, with a pause after each. */
    void slice(long bytes, Duration pause) throws IOException {
        for (ToxicDirection direction : ToxicDirection.values()) {
            proxy.toxics()
                    .slicer("slicer-" + direction, direction, bytes,
                            TimeUnit.NANOSECONDS.toMicros(pause.toNanos()))
                    .setSizeVariation(bytes / 2);
        }
    }

    /** From now on nothing passes, and no connection ends: half-open to both sides. */
    void silence() throws IOException {
        for (ToxicDirection direction : ToxicDirection.values()) {
            proxy.toxics().timeout("timeout-" + direction, direction, 0);
        }
    }

    /** From now on a connection is reset as soon as a byte arrives on it. */
    void reset() throws IOException {
        for (ToxicDirection direction : ToxicDirection.values()) {
            proxy.toxics().resetPeer("reset-" + direction, direction, 0);
        }
    }

    /** Ends every connection, and refuses new ones. */
    void down() throws IOException {
        proxy.disable();
    }

    /** Accepts connections again, on the same port. */
    void up() throws IOException {
        proxy.enable();
    }

    /** Takes all faults off. Connections that were silent end. */
    void heal() throws IOException {
        for (Toxic toxic : proxy.toxics().getAll()) {
            toxic.remove();
        }
    }

    @Override
    public void close() {
        try {
            proxy.delete();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            server.close();
        }
    }
}
