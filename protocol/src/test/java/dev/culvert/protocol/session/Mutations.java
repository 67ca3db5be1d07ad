package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.FrameCodec;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Makes broken batches out of valid ones. */
final class Mutations {
    private final Random random;
    /** Batches of both directions, to take strange frames from. */
    private final List<byte[]> strangers;

    Mutations(Random random, List<byte[]> strangers) {
        this.random = random;
        this.strangers = strangers;
    }

    /** A mutated copy of {@code batch}; half of them still are whole frames, and so get past the codec. */
    byte[] mutate(byte[] batch) {
        byte[] mutated = batch.clone();
        boolean wholeFrames = random.nextBoolean();
        for (int rounds = 1 + random.nextInt(3); rounds > 0 && mutated.length > 0; rounds--) {
            mutated = wholeFrames ? framesChanged(mutated) : bytesChanged(mutated);
        }
        return mutated;
    }

    private byte[] framesChanged(byte[] batch) {
        return switch (random.nextInt(5)) {
            case 0 -> headerChanged(batch);
            case 1 -> reordered(batch);
            case 2 -> duplicated(batch);
            case 3 -> spliced(batch);
            default -> payloadChanged(batch);
        };
    }

    private byte[] bytesChanged(byte[] batch) {
        return switch (random.nextInt(5)) {
            case 0 -> Arrays.copyOf(batch, random.nextInt(batch.length));
            case 1 -> bitsFlipped(batch);
            case 2 -> oversized(batch);
            case 3 -> bytesMoved(batch);
            default -> numberChanged(batch);
        };
    }

    /** Bits flipped behind the header of one frame. */
    private byte[] payloadChanged(byte[] batch) {
        List<byte[]> frames = frames(batch);
        byte[] frame = frames.get(random.nextInt(frames.size()));
        for (int flips = frame.length > FrameCodec.HEADER_BYTES
                ? 1 + random.nextInt(3)
                : 0; flips > 0; flips--) {
            int at = FrameCodec.HEADER_BYTES
                    + random.nextInt(Math.min(100, frame.length - FrameCodec.HEADER_BYTES));
            frame[at] ^= (byte) (1 << random.nextInt(8));
        }
        return joined(frames);
    }

    private byte[] bitsFlipped(byte[] batch) {
        // mostly in the first frame, where the structure is
        int reach = random.nextBoolean() ? batch.length : Math.min(batch.length, 64);
        for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
            batch[random.nextInt(reach)] ^= (byte) (1 << random.nextInt(8));
        }
        return batch;
    }

    /** Another type, other flags, another stream in the header of one frame. */
    private byte[] headerChanged(byte[] batch) {
        List<byte[]> frames = frames(batch);
        byte[] frame = frames.get(random.nextInt(frames.size()));
        if (frame.length >= FrameCodec.HEADER_BYTES) {
            switch (random.nextInt(3)) {
                case 0 ->
                    frame[0] = (byte) (random.nextInt(8) == 0 ? random.nextInt(256) : random.nextInt(12));
                case 1 -> frame[1] = (byte) random.nextInt(32);
                default -> frame[7] = (byte) random.nextInt(40);
            }
        }
        return joined(frames);
    }

    private byte[] reordered(byte[] batch) {
        List<byte[]> frames = frames(batch);
        Collections.shuffle(frames, random);
        return joined(frames);
    }

    private byte[] duplicated(byte[] batch) {
        List<byte[]> frames = frames(batch);
        byte[] again = frames.get(random.nextInt(frames.size()));
        for (int copies = 1 + random.nextInt(random.nextInt(10) == 0 ? 50 : 3); copies > 0; copies--) {
            frames.add(random.nextInt(frames.size() + 1), again);
        }
        return joined(frames);
    }

    /** A length that promises more than there is, or a frame that is stuffed. */
    private byte[] oversized(byte[] batch) {
        List<byte[]> frames = frames(batch);
        int at = random.nextInt(frames.size());
        byte[] frame = frames.get(at);
        if (frame.length >= FrameCodec.HEADER_BYTES) {
            byte[] stuffed = Arrays.copyOf(frame,
                    frame.length + random.nextInt(random.nextBoolean() ? 20 : 17_000));
            int length = random.nextBoolean()
                    ? stuffed.length - FrameCodec.HEADER_BYTES
                    : random.nextInt(0x10000);
            stuffed[2] = (byte) (length >> 8);
            stuffed[3] = (byte) length;
            frames.set(at, stuffed);
        }
        return joined(frames);
    }

    private byte[] spliced(byte[] batch) {
        List<byte[]> frames = frames(batch);
        List<byte[]> others = frames(strangers.get(random.nextInt(strangers.size())));
        for (int count = 1 + random.nextInt(3); count > 0; count--) {
            frames.add(random.nextInt(frames.size() + 1), others.get(random.nextInt(others.size())));
        }
        return joined(frames);
    }

    private byte[] bytesMoved(byte[] batch) {
        int from = random.nextInt(batch.length);
        int count = Math.min(batch.length - from, 1 + random.nextInt(8));
        ByteArrayOutputStream out = new ByteArrayOutputStream(batch.length + 8);
        out.write(batch, 0, from);
        if (random.nextBoolean()) {
            out.write(batch, from, batch.length - from);
            out.write(batch, from, count);
        } else {
            out.write(batch, from + count, batch.length - from - count);
        }
        return out.toByteArray();
    }

    /** Four bytes become a number that is interesting. */
    private byte[] numberChanged(byte[] batch) {
        int[] numbers = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 0xffff, 16 << 20, random.nextInt()};
        int number = numbers[random.nextInt(numbers.length)];
        int at = random.nextInt(Math.max(1, Math.min(batch.length, 64) - 4));
        for (int i = 0; i < 4 && at + i < batch.length; i++) {
            batch[at + i] = (byte) (number >> (24 - 8 * i));
        }
        return batch;
    }

    /** The frames of a batch; a tail that is none stays one piece. */
    private static List<byte[]> frames(byte[] batch) {
        List<byte[]> frames = new ArrayList<>();
        int at = 0;
        while (batch.length - at >= FrameCodec.HEADER_BYTES) {
            int length = FrameCodec.HEADER_BYTES + ((batch[at + 2] & 0xff) << 8 | (batch[at + 3] & 0xff));
            int end = Math.min(batch.length, at + length);
            frames.add(Arrays.copyOfRange(batch, at, end));
            at = end;
        }
        if (at < batch.length || frames.isEmpty()) {
            frames.add(Arrays.copyOfRange(batch, at, batch.length));
        }
        return frames;
    }

    private static byte[] joined(List<byte[]> frames) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        frames.forEach(out::writeBytes);
        byte[] joined = out.toByteArray();
        return joined.length <= FrameCodec.MAX_BATCH ? joined : Arrays.copyOf(joined, FrameCodec.MAX_BATCH);
    }
}
