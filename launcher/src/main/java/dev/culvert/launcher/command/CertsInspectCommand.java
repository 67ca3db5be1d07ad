package dev.culvert.launcher.command;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.certs.CertificateFacts;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.PemFiles;
import dev.culvert.config.Durations;
import dev.culvert.launcher.certs.Inspection;
import dev.culvert.launcher.output.OutputOption;
import dev.culvert.launcher.output.TextTable;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** {@code culvert certs inspect}: shows the content of certificates. */
@Command(name = "inspect", description = {
        "Shows what certificates say: whose they are, by whom, for how long, for what.",
        "Exits with 0 when all are valid now and the key is theirs, 1 when not, 78 when a file can't be read."}, footer = {
                "", "Examples:", "  culvert certs inspect certs/edge.crt --key certs/edge.key",
                "  culvert certs inspect certs/*.crt --output json"})
final class CertsInspectCommand implements Task.Reactive {
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "PEM files of certificates; of several in a file all are shown.")
    private List<Path> files = List.of();

    @Option(names = "--key", paramLabel = "FILE", description = "A private key: is it that of each file's first certificate (or, of authorities, of any)?")
    private @Nullable Path key;

    @Mixin
    private final OutputOption output = new OutputOption();

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> {
            Instant now = Instant.now();
            PrivateKey compared = key == null ? null : PemFiles.readKey(key);
            List<Inspection> all = files.stream().map(file -> Inspection.of(file, compared, now)).toList();
            System.out.println(output.text(json(all, now), () -> text(all, now)));
            return all.stream().allMatch(Inspection::passes) ? ExitCode.DONE : ExitCode.FAILED;
        });
    }

    private String text(List<Inspection> all, Instant now) {
        var blocks = new ArrayList<String>();
        for (Inspection inspection : all) {
            int count = inspection.certificates().size();
            for (int i = 0; i < count; i++) {
                blocks.add(inspection.file() + (count == 1 ? "" : ", certificate " + (i + 1) + " of " + count)
                        + "\n"
                        + TextTable.facts(rows(inspection.certificates().get(i), now)));
            }
        }
        return String.join("\n\n", blocks);
    }

    private List<List<String>> rows(Inspection.Certificate certificate, Instant now) {
        CertificateFacts facts = certificate.facts();
        var rows = new ArrayList<List<String>>();
        rows.add(row("subject", facts.subject()));
        rows.add(row("names", names(facts)));
        rows.add(row("issuer", facts.issuer()));
        rows.add(row("serial", facts.serial()));
        rows.add(row("valid", facts.notBefore() + " to " + facts.notAfter()));
        rows.add(row("state", state(certificate, now)));
        rows.add(row("key", facts.key()));
        rows.add(row("for", use(facts)));
        rows.add(row("SHA-256", facts.sha256()));
        Boolean fits = certificate.fits();
        if (fits != null) {
            rows.add(row("key file", key + (fits ? ": is its key" : ": is not its key")));
        }
        return rows;
    }

    private static List<String> row(String fact, String value) {
        return List.of("  " + fact, value);
    }

    private static String names(CertificateFacts facts) {
        var names = new ArrayList<>(facts.names().texts());
        if (facts.names().others() > 0) {
            names.add(facts.names().others() + " of other kinds");
        }
        return names.isEmpty() ? "–" : String.join(", ", names);
    }

    private static String state(Inspection.Certificate certificate, Instant now) {
        CertificateFacts facts = certificate.facts();
        return switch (certificate.state()) {
            case VALID -> "valid, ends in " + Durations.rounded(Duration.between(now, facts.notAfter()));
            case EXPIRED -> "EXPIRED " + Durations.rounded(Duration.between(facts.notAfter(), now)) + " ago";
            case EARLY ->
                "NOT VALID YET, begins in " + Durations.rounded(Duration.between(now, facts.notBefore()))
                        + "; compare the clocks";
        };
    }

    private static String use(CertificateFacts facts) {
        var uses = new ArrayList<String>();
        if (facts.authority()) {
            uses.add("certificate authority");
        }
        if (facts.server()) {
            uses.add("servers");
        }
        if (facts.client()) {
            ClientIdentity identity = facts.identity();
            uses.add(identity == null
                    ? "clients"
                    : "the client of " + identity.account() + "/" + identity.runtime() + ", identity "
                            + identity.runtimeId());
        }
        return uses.isEmpty() ? "neither servers nor clients" : String.join(", ", uses);
    }

    private static String json(List<Inspection> all, Instant now) {
        ObjectNode document = new JsonMapper().createObjectNode();
        ArrayNode certificates = document.putArray("certificates");
        for (Inspection inspection : all) {
            for (Inspection.Certificate each : inspection.certificates()) {
                ObjectNode item = certificates.addObject().put("file", inspection.file().toString());
                fill(item, each, now);
            }
        }
        return document.toString();
    }

    private static void fill(ObjectNode item, Inspection.Certificate certificate, Instant now) {
        CertificateFacts facts = certificate.facts();
        item.put("subject", facts.subject());
        ArrayNode names = item.putArray("names");
        facts.names().texts().forEach(names::add);
        item.put("issuer", facts.issuer())
                .put("serial", facts.serial())
                .put("notBefore", facts.notBefore().toString())
                .put("notAfter", facts.notAfter().toString())
                .put("state", certificate.state().name().toLowerCase(Locale.ROOT))
                .put("secondsLeft", Duration.between(now, facts.notAfter()).toSeconds())
                .put("key", facts.key())
                .put("authority", facts.authority())
                .put("server", facts.server())
                .put("client", facts.client());
        ClientIdentity identity = facts.identity();
        if (identity == null) {
            item.putNull("identity");
        } else {
            item.putObject("identity")
                    .put("account", identity.account())
                    .put("runtime", identity.runtime())
                    .put("id", identity.runtimeId());
        }
        item.put("sha256", facts.sha256()).put("keyMatches", certificate.fits());
    }
}
