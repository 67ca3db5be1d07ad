package dev.culvert.benchmarks.load;

import dev.culvert.config.Reason;

/** Has one exchange at a time. Belongs to the event loop. */
abstract class Caller {
    /** Why a caller has no share in the figures of a measured time. */
    static final String SILENT = "no answer in the measured time";

    final Load load;
    private long began;
    private boolean busy;

    Caller(Load load) {
        this.load = load;
    }

    /** @param intended when the exchange should begin: a {@link System#nanoTime} value, not after now */
    final void begin(long intended) {
        began = intended;
        busy = true;
        exchange();
    }

    /** Begins an exchange, which ends with {@link #succeeded} or {@link #failed}, later. */
    abstract void exchange();

    final void succeeded() {
        busy = false;
        load.succeeded(began);
        load.next(this);
    }

    /** Has no effect between two exchanges. */
    final void failed(String reason) {
        if (busy) {
            busy = false;
            load.failed(began, reason);
            load.nextAfterPause(this);
        }
    }

    final boolean isBusy() {
        return busy;
    }

    /** Whether nothing has come since a {@link System#nanoTime} value, though this caller asked before it. */
    boolean isSilentSince(long time) {
        return busy && began - time < 0;
    }

    /** A short reason, without what differs from one failure to the next. */
    static String reason(Throwable error) {
        return Reason.of(error).replaceAll("(localhost)?/?[0-9.]+:[0-9]+", "").strip();
    }
}
