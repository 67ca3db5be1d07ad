package dev.culvert.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A rendered pod as a process of this machine: its arguments and environment, its configuration and secrets
 * as files. Its mounts are folders, and its ports are free ones of loopback.
 */
final class PodProcess implements AutoCloseable {
    private static final Duration WAIT = Duration.ofMinutes(1);
    private static final JsonMapper JSON = new JsonMapper();

    private final Process process;
    private final Path log;
    private final Container container;

    private PodProcess(Process process, Path log, Container container) {
        this.process = process;
        this.log = log;
        this.container = container;
    }

    /**
     * Starts a pod.
     *
     * @param secrets the folder of each secret, by its name
     * @param environment of the machine: what a cluster would give
     */
    static PodProcess start(Path folder, PodTemplateSpec pod, List<HasMetadata> objects,
            Map<String, Path> secrets,
            Map<String, String> environment) throws IOException {
        PodSpec spec = pod.getSpec();
        Container container = spec.getContainers().getFirst();
        var folders = new LinkedHashMap<String, Path>();
        for (VolumeMount mount : container.getVolumeMounts()) {
            Path target = Files.createDirectories(folder.resolve(mount.getName()));
            folders.put(mount.getMountPath(), target);
            spec.getVolumes()
                    .stream()
                    .filter(volume -> volume.getName().equals(mount.getName()))
                    .forEach(volume -> secret(volume, target, secrets));
        }
        for (ConfigMap map : Chart.all(objects, ConfigMap.class)) {
            if (map.getMetadata().getName().equals(spec.getServiceAccountName())) {
                for (var file : map.getData().entrySet()) {
                    Files.writeString(folder.resolve("config").resolve(file.getKey()),
                            here(file.getValue(), folders));
                }
            }
        }
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "dev.culvert.launcher.Main"));
        container.getArgs().forEach(argument -> command.add(here(argument, folders)));
        Path log = folder.resolve("log");
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        for (EnvVar variable : Objects.requireNonNullElse(container.getEnv(), List.<EnvVar>of())) {
            builder.environment().put(variable.getName(), here(variable.getValue(), folders));
        }
        return new PodProcess(builder.start(), log, container);
    }

    private static void secret(Volume volume, Path target, Map<String, Path> secrets) {
        SecretVolumeSource source = volume.getSecret();
        if (source == null) {
            return;
        }
        Path from = Objects.requireNonNull(secrets.get(source.getSecretName()), source.getSecretName());
        try (var files = Files.list(from)) {
            for (Path file : files.toList()) {
                String name = String.valueOf(file.getFileName());
                List<String> names = source.getItems().isEmpty()
                        ? List.of(name)
                        : source.getItems()
                                .stream()
                                .filter(item -> item.getKey().equals(name))
                                .map(item -> item.getPath())
                                .toList();
                for (String as : names) {
                    Files.copy(file, target.resolve(as), StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Puts this machine's folders and ports in place of the pod's. */
    private static String here(String text, Map<String, Path> folders) {
        String mounts = folders.keySet()
                .stream()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .map(Pattern::quote)
                .collect(Collectors.joining("|"));
        return Pattern.compile("(" + mounts + ")(?=/|\\s|$)")
                .matcher(text.replaceAll("0\\.0\\.0\\.0:\\d+", "127.0.0.1:0"))
                .replaceAll(found -> String.valueOf(folders.get(found.group())));
    }

    /** The address of a listener, by its name in the ready line. */
    String address(String listener) {
        return await(listener).atMost(WAIT)
                .until(() -> ready(listener), Optional::isPresent)
                .orElseThrow();
    }

    private Optional<String> ready(String listener) throws IOException {
        for (String line : log().lines().toList()) {
            if (line.startsWith("{\"event\":\"listening\"")) {
                JsonNode event = JSON.readTree(line);
                return Optional.of(event.path(listener).asText());
            }
        }
        assertThat(process.isAlive()).as(log()).isTrue();
        return Optional.empty();
    }

    String readinessPath() {
        return container.getReadinessProbe().getHttpGet().getPath();
    }

    /** Sends SIGTERM and returns the exit code. */
    int terminate() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(WAIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
