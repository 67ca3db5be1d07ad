package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Ports;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * {@code script:PATH}: any other proxy, started by an executable of its user. The file's name without its
 * extension is the target's name. The harness calls
 *
 * <pre>
 * PATH start UPSTREAM_URL DIR
 * PATH stop DIR
 * </pre>
 *
 * <p>{@code start} leads a port of 127.0.0.1 to UPSTREAM_URL, such as {@code http://127.0.0.1:41234}. DIR is
 * an empty folder that only the user can access. The variable {@code BENCH_PORTS} names eight free ports,
 * separated by blanks. {@code start} leaves the proxy's processes running, with their output in files below
 * DIR, and prints these lines and no others:
 *
 * <pre>
 * url=http://127.0.0.1:20001      the URL below which the upstream's paths are
 * host=app.localhost              the Host field that requests must have; optional
 * pids=4711 4712                  the processes to measure, each with its descendants
 * </pre>
 *
 * <p>It ends within 60 s with status 0, with 69 if a program is missing, and with another one after any other
 * failure; the reason is on standard error. {@code stop} ends the processes. It is also called after a failed
 * {@code start}. DIR is removed after it.
 */
final class ScriptTarget implements TargetKind {
    static final String PREFIX = "script:";

    private static final int UNAVAILABLE = 69;
    private static final int SECONDS = 60;
    private static final int PORTS = 8;
    private static final String EXPECTED = " (expected: the lines url=http(s)://127.0.0.1:PORT, pids=PID PID and,"
            + " if needed, host=NAME)";

    private final Path script;

    ScriptTarget(Path script) {
        this.script = script.toAbsolutePath();
    }

    @Override
    public String name() {
        String file = String.valueOf(script.getFileName());
        int dot = file.lastIndexOf('.');
        return dot > 0 ? file.substring(0, dot) : file;
    }

    @Override
    public List<String> programs() {
        return List.of(script.toString());
    }

    @Override
    public Target start(Testbed bed, Upstream upstream) throws IOException {
        Path folder = bed.folder("script-" + name());
        bed.onClose(() -> stop(bed, folder));
        return parse(name(), call(bed, folder, "start", upstream.address().toString(), folder.toString()));
    }

    /** Reads the lines of {@code start}. Throws BenchException for other lines. */
    static Target parse(String name, String output) {
        Map<String, String> values = new HashMap<>();
        for (String line : output.lines().filter(line -> !line.isBlank()).toList()) {
            int equals = line.indexOf('=');
            String key = equals < 0 ? "" : line.substring(0, equals);
            if (!List.of("url", "host", "pids").contains(key)) {
                throw BenchException.failed(name + " printed \"" + line + '"' + EXPECTED);
            }
            values.put(key, line.substring(equals + 1).strip());
        }
        return new Target(name, url(name, values.getOrDefault("url", "")), values.getOrDefault("host", ""),
                pids(name, values.getOrDefault("pids", "")));
    }

    private static URI url(String name, String text) {
        try {
            URI url = URI.create(text);
            if (("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
                    && url.getHost() != null) {
                return url;
            }
        } catch (IllegalArgumentException e) {
            // The same message as for other texts.
        }
        throw BenchException.failed(name + " printed url=" + text + EXPECTED);
    }

    private static List<Long> pids(String name, String text) {
        if (!text.matches("\\d{1,10}( +\\d{1,10})*")) {
            throw BenchException.failed(name + " printed pids=" + text + EXPECTED);
        }
        return List.of(text.split(" +", -1)).stream().map(Long::valueOf).toList();
    }

    private void stop(Testbed bed, Path folder) {
        try {
            call(bed, folder, "stop", folder.toString());
        } catch (BenchException | IOException e) {
            System.err.println("culvert bench: " + e.getMessage());
        }
    }

    /**
     * Runs the script to its end. Its output goes to files, which processes in the background may keep open.
     */
    private String call(Testbed bed, Path folder, String verb, String... arguments) throws IOException {
        List<String> command = bed.scheduling().apply(List.of(script.toString(), verb));
        command.addAll(List.of(arguments));
        Path printed = folder.resolve("bench-" + verb + ".out");
        Path failure = folder.resolve("bench-" + verb + ".err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(printed.toFile())
                .redirectError(failure.toFile());
        builder.environment()
                .put("BENCH_PORTS",
                        Ports.free(PORTS).stream().map(String::valueOf).collect(Collectors.joining(" ")));
        Process process = builder.start();
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw BenchException.failed(script + " " + verb + " did not end within " + SECONDS + " s");
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
        if (process.exitValue() == UNAVAILABLE) {
            throw BenchException.unavailable(name() + ": " + text(failure));
        } else if (process.exitValue() != 0) {
            throw BenchException.failed(script + " " + verb + " ended with " + process.exitValue() + ":\n"
                    + text(failure));
        }
        return text(printed);
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
    }
}
