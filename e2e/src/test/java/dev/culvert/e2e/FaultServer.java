package dev.culvert.e2e;

import dev.culvert.config.HostPort;

/** A server of Toxiproxy's HTTP API, and how it and this machine reach each other's ports. */
sealed interface FaultServer extends AutoCloseable permits ToxicServer, ToxicContainer {
    /** Where its API listens. */
    HostPort control();

    /** Where a proxy is to listen: its only one, where ports are mapped. */
    default HostPort listen() {
        return HostPort.parse("127.0.0.1:0");
    }

    /** The address under which this machine reaches a proxy that listens at {@code listening}. */
    default HostPort reached(HostPort listening) {
        return listening;
    }

    /** The address under which a proxy reaches what listens at {@code here}, on this machine. */
    default HostPort reaches(HostPort here) {
        return here;
    }

    @Override
    void close();

    /** Toxiproxy itself where a Docker engine has it, the server in this package elsewhere. */
    static FaultServer start() {
        return ToxicContainer.isUsable() ? ToxicContainer.run() : ToxicServer.start();
    }
}
