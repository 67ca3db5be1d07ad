package dev.culvert.e2e;

import dev.culvert.edge.config.HostPort;

/** A server of Toxiproxy's HTTP API, on this machine's network: it reaches loopback ports and is reached on them. */
sealed interface FaultServer extends AutoCloseable permits ToxicServer, ToxicContainer {
    /** Where its API listens. */
    HostPort control();

    @Override
    void close();

    /** Toxiproxy itself where a Docker engine has it, the server in this package elsewhere. */
    static FaultServer start() {
        return ToxicContainer.isUsable() ? ToxicContainer.run() : ToxicServer.start();
    }
}
