package dev.culvert.server.tunnel;

import dev.culvert.http.observe.TunnelFigures;
import dev.culvert.protocol.netty.SessionMeter;

/** The figures of all tunnels of a server, for its metrics. */
public record ServerFigures(TunnelRegistry registry, SessionMeter meter) implements TunnelFigures {
    @Override
    public int connected() {
        return registry.connected();
    }

    @Override
    public int waiting() {
        return registry.waiting();
    }

    @Override
    public long promotions() {
        return registry.promotions().answered();
    }

    @Override
    public long unansweredPromotions() {
        return registry.promotions().unanswered();
    }

    @Override
    public long streams() {
        return meter.streams();
    }

    @Override
    public long bufferedBytes() {
        return meter.bufferedBytes();
    }

    @Override
    public long receivedBytes() {
        return meter.receivedBytes();
    }

    @Override
    public long refusedMemory() {
        return meter.refusedMemory();
    }

    @Override
    public long sentBytes() {
        return meter.sentBytes();
    }

    @Override
    public double rttSeconds() {
        return registry.longestRttSeconds();
    }
}
