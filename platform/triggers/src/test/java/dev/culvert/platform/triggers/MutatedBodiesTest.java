package dev.culvert.platform.triggers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.triggers.git.GitKind;
import dev.culvert.platform.triggers.hermes.EventKind;
import dev.culvert.platform.triggers.hermes.Happening;
import dev.culvert.platform.triggers.registry.RegistryKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The bodies of providers, and bodies that are nearly so: read, or refused as the caller's fault. */
class MutatedBodiesTest {
    private static final String ACCOUNT = "6791f6184c56bd51c65784a2";
    private static final int MUTATIONS = 10_000;

    /** A body of a provider, in a file of this folder. */
    record Sample(EventKind kind, String name, String file) {
        @Override
        public String toString() {
            return file;
        }

        String text() {
            try (InputStream in = MutatedBodiesTest.class.getResourceAsStream("bodies/" + file)) {
                return new String(in == null ? new byte[0] : in.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static Stream<Sample> samples() {
        Map<String, EventKind> kinds = new TreeMap<>();
        GitKind.all("").forEach(kind -> kinds.put(kind.kind(), kind));
        RegistryKind.all("").forEach(kind -> kinds.put(kind.type() + "-" + kind.kind(), kind));
        return Stream.of("github push github-push.json", "github push github-tag.json",
                "github pull_request github-pull-request.json", "gitea push gitea-push.json",
                "gitlab Push_Hook gitlab-push.json", "gitlab Merge_Request_Hook gitlab-merge-request.json",
                "bitbucket repo:push bitbucket-push.json",
                "bitbucket pullrequest:created bitbucket-pull-request.json",
                "registry-dockerhub - dockerhub.json", "registry-quay - quay.json",
                "registry-jfrog - jfrog.json", "registry-jfrog - jfrog-plugin.json",
                "registry-azure - azure.json", "registry-docker - distribution.json",
                "helm-jfrog - helm.json").map(line -> {
                    String[] parts = line.split(" ", 3);
                    EventKind kind = kinds.get(parts[0]);
                    if (kind == null) {
                        throw new IllegalStateException("no kind " + parts[0]);
                    }
                    return new Sample(kind, parts[1].replace('_', ' '), parts[2]);
                });
    }

    private static String name(Sample sample) {
        return sample.name().equals("pull request") ? "pull_request" : sample.name();
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aBodyIsRead(Sample sample) {
        List<Happening> happened = sample.kind().read(ACCOUNT, name(sample), sample.text());

        assertThat(happened).isNotEmpty();
        assertThat(happened.getFirst().fields()).containsKey("event");
        assertThat(happened.getFirst().variables()).containsEntry("EVENT_PAYLOAD", sample.text());
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aMutatedBodyIsReadOrRefused(Sample sample) {
        var random = new Random(42);
        byte[] original = sample.text().getBytes(StandardCharsets.UTF_8);
        List<String> refused = new ArrayList<>();
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] body = mutated(original, random);
            try {
                sample.kind().read(ACCOUNT, name(sample), new String(body, StandardCharsets.UTF_8));
            } catch (HandlerException told) {
                assertThat(told.reason()).isEqualTo(Reason.BAD_REQUEST);
                refused.add(told.detail());
            }
        }
        assertThat(refused).hasSizeGreaterThan(MUTATIONS / 10).allMatch(text -> text.length() < 500);
    }

    /** Bytes changed, left out, doubled; values of other kinds; nested deeply. */
    private static byte[] mutated(byte[] original, Random random) {
        String text = new String(original, StandardCharsets.ISO_8859_1);
        for (int edits = 1 + random.nextInt(3); edits > 0; edits--) {
            int at = random.nextInt(text.length());
            int end = Math.min(text.length(), at + random.nextInt(20));
            text = switch (random.nextInt(8)) {
                case 0 -> text.substring(0, at) + (char) random.nextInt(256) + text.substring(at);
                case 1 -> text.substring(0, at) + text.substring(end);
                case 2 -> text.substring(0, end) + text.substring(at);
                case 3 -> text.replaceFirst("\"[a-z_]+\": \"[^\"]*\"", "\"ref\": 7");
                case 4 -> text.replaceFirst(": \\{", ": [");
                case 5 -> text.substring(0, at) + "1e999999999" + text.substring(end);
                case 6 -> text.substring(0, at) + "[".repeat(2_000) + text.substring(at);
                default -> text.replaceFirst("\"[^\"]*\"(?=[,}])", "null");
            };
        }
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
