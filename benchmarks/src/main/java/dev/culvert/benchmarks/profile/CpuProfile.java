package dev.culvert.benchmarks.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/**
 * The sampled CPU time of Java threads by layer. Compilers and collectors run no Java code: they are not in
 * it.
 */
public final class CpuProfile {
    private static final String EVENT = "jdk.CPUTimeSample";

    private final Map<Layer, Long> nanos = new EnumMap<>(Layer.class);

    private CpuProfile() {}

    /**
     * Options of a JVM that write a recording of its samples when it ends.
     *
     * @param folder for the settings and the recording
     * @param name of the recording
     */
    public static List<String> options(Path folder, String name) throws IOException {
        Path settings = Files.writeString(folder.resolve(name + ".jfc"), """
                <?xml version="1.0" encoding="UTF-8"?>
                <configuration version="2.0">
                  <event name="jdk.CPUTimeSample">
                    <setting name="enabled">true</setting>
                    <setting name="throttle">500us</setting>
                    <setting name="stackTrace">true</setting>
                  </event>
                </configuration>
                """);
        return List
                .of("-XX:StartFlightRecording:settings=" + settings + ",filename=" + recording(folder, name));
    }

    static Path recording(Path folder, String name) {
        return folder.resolve(name + ".jfr");
    }

    /** Reads the samples of a recording between two moments. */
    public static CpuProfile read(Path folder, String name, Instant from, Instant to) throws IOException {
        var profile = new CpuProfile();
        try (var file = new RecordingFile(recording(folder, name))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                if (event.getEventType().getName().equals(EVENT) && !event.getStartTime().isBefore(from)
                        && event.getStartTime().isBefore(to)) {
                    profile.add(event);
                }
            }
        }
        return profile;
    }

    private void add(RecordedEvent sample) {
        RecordedStackTrace stack = sample.getStackTrace();
        Layer layer = stack == null ? Layer.OTHER : layer(stack.getFrames());
        nanos.merge(layer, sample.getDuration("samplingPeriod").toNanos(), Long::sum);
    }

    private static Layer layer(List<RecordedFrame> frames) {
        return frames.stream()
                .map(frame -> Layer.of(frame.getMethod().getType().getName()))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(Layer.OTHER);
    }

    /** The CPU time of a layer, in nanoseconds. */
    public long nanos(Layer layer) {
        return nanos.getOrDefault(layer, 0L);
    }

    /** The CPU time of all samples, in nanoseconds. */
    public long nanos() {
        return nanos.values().stream().mapToLong(Long::longValue).sum();
    }
}
