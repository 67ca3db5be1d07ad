package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello.Limits;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.List;

/** The batches of a real run, in order, for each direction. */
final class Recording {
    /** Small, so that mutations cross them. */
    static final Limits LIMITS = new Limits(20, 8_000, 40, 4096, 16 << 10, 64 << 10);

    private static final int OPERATIONS = 150;

    /** What the server sent. */
    final List<byte[]> toClient = new ArrayList<>();
    /** What the client sent. */
    final List<byte[]> toServer = new ArrayList<>();
    /** The highest stream id that the server had opened when the client sent each batch. */
    final List<Integer> openedBefore = new ArrayList<>();

    /** Runs random traffic and keeps what crosses the link. */
    static Recording of(long seed) {
        Recording recording = new Recording();
        try (SessionPair pair = new SessionPair(LIMITS, LIMITS)) {
            pair.server.tap = batch -> recording.toClient.add(ByteBufUtil.getBytes(batch));
            pair.client.tap = batch -> {
                recording.toServer.add(ByteBufUtil.getBytes(batch));
                recording.openedBefore.add(pair.server.session.session.lastStreamId);
            };
            RandomTraffic traffic = new RandomTraffic(pair, seed, 7_000);
            pair.drive();
            traffic.run(OPERATIONS);
            traffic.finish();
            pair.server.session.goAway(ErrorCode.DRAINING, 100, "moving");
            pair.drive();
        }
        return recording;
    }
}
