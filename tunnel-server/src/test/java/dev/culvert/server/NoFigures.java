package dev.culvert.server;

import dev.culvert.http.observe.TunnelFigures;

/** The figures of a server without tunnels. */
final class NoFigures implements TunnelFigures {
    @Override
    public int connected() {
        return 0;
    }

    @Override
    public int waiting() {
        return 0;
    }

    @Override
    public long promotions() {
        return 0;
    }

    @Override
    public long unansweredPromotions() {
        return 0;
    }

    @Override
    public long streams() {
        return 0;
    }

    @Override
    public long bufferedBytes() {
        return 0;
    }

    @Override
    public long receivedBytes() {
        return 0;
    }

    @Override
    public long sentBytes() {
        return 0;
    }

    @Override
    public long refusedMemory() {
        return 0;
    }

    @Override
    public double rttSeconds() {
        return 0;
    }
}
