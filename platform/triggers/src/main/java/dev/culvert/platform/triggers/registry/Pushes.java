package dev.culvert.platform.triggers.registry;

import dev.culvert.platform.triggers.hermes.EventBody;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;

/** Reads the pushes of each registry's bodies. */
final class Pushes {
    private static final BigDecimal LAST_SECOND = BigDecimal.valueOf(253_402_300_799L);
    private static final int MILLIS_DIGITS = 3;

    private Pushes() {}

    static List<RegistryPush> dockerHub(EventBody body) {
        return List.of(new RegistryPush(body.required("repository.namespace"),
                body.required("repository.name"), body.text("push_data.tag"), null,
                body.text("push_data.pusher"), body.text("repository.repo_url"),
                time(body, "push_data.pushed_at", 0)));
    }

    static List<RegistryPush> quay(EventBody body) {
        List<RegistryPush> pushes = new ArrayList<>();
        List<String> tags = body.texts("updated_tags");
        for (String tag : tags.isEmpty() ? List.of("") : tags) {
            pushes.add(new RegistryPush(body.required("namespace"), body.required("name"), tag, null, "",
                    body.text("homepage"), ""));
        }
        return pushes;
    }

    static List<RegistryPush> jfrog(EventBody body) {
        if (body.has("artifactory")) {
            String data = "artifactory.webhook.data.";
            return body.required("artifactory.webhook.event").equals("docker.tagCreated")
                    ? List.of(new RegistryPush(body.required(data + "event.repoPath.repoKey"),
                            body.required(data + "docker.image"), body.text(data + "docker.tag"), null,
                            body.text(data + "event.modifiedBy"), "",
                            time(body, data + "event.created", MILLIS_DIGITS)))
                    : List.of();
        }
        return body.required("domain").equals("docker") && body.required("event_type").equals("pushed")
                ? List.of(new RegistryPush(body.required("data.repo_key"), body.required("data.image_name"),
                        body.text("data.tag"), null, body.text("user"), body.text("jpd_origin"), ""))
                : List.of();
    }

    static List<RegistryPush> azure(EventBody body) {
        if (!body.required("action").equals("push")) {
            return List.of();
        }
        String host = body.required("request.host");
        return List.of(new RegistryPush(host.split("\\.", 2)[0], body.required("target.repository"),
                body.text("target.tag"), body.text("id").isEmpty() ? null : body.text("id"), "",
                "https://" + host, timestamp(body, "timestamp")));
    }

    static List<RegistryPush> helm(EventBody body) {
        if (body.has("artifactory")) {
            String data = "artifactory.webhook.data.";
            return body.required("artifactory.webhook.event").equals("storage.afterCreate")
                    ? List.of(new RegistryPush(body.required(data + "repoPath.repoKey"),
                            body.required(data + "repoPath.name"), "", null, body.text(data + "modifiedBy"),
                            "",
                            time(body, data + "created", MILLIS_DIGITS)))
                    : List.of();
        }
        return body.required("domain").equals("artifact") && body.required("event_type").equals("deployed")
                ? List.of(
                        new RegistryPush(body.required("data.repo_key"), body.required("data.name"), "", null,
                                body.text("user"), body.text("jpd_origin"), ""))
                : List.of();
    }

    /** Notifications of Distribution: manifests that got a tag. Blobs, pulls and deletions are left out. */
    static List<RegistryPush> distribution(EventBody body) {
        List<RegistryPush> pushes = new ArrayList<>();
        for (EventBody event : body.objects("events")) {
            if (event.required("action").equals("push") && !event.text("target.tag").isEmpty()) {
                String repository = event.required("target.repository");
                int slash = repository.lastIndexOf('/');
                pushes.add(new RegistryPush(slash < 0 ? "_" : repository.substring(0, slash),
                        repository.substring(slash + 1), event.text("target.tag"), event.required("id"),
                        event.text("actor.name"), event.text("target.url"), timestamp(event, "timestamp")));
            }
        }
        return pushes;
    }

    /**
     * A time since 1970, which may have an exponent.
     *
     * @param digits how many decimal digits its unit is below a second
     */
    private static String time(EventBody body, String path, int digits) {
        BigDecimal number = body.number(path);
        if (number == null) {
            return "";
        }
        if (number.signum() < 0 || number.precision() - number.scale() - digits > LAST_SECOND.precision()
                || number.scale() > LAST_SECOND.precision()
                || number.movePointLeft(digits).compareTo(LAST_SECOND) > 0) {
            throw body.wrong(path, "no such time", "a number since 1970");
        }
        return Instant.ofEpochSecond(number.movePointLeft(digits).longValue()).toString();
    }

    private static String timestamp(EventBody body, String path) {
        String text = body.text(path);
        try {
            return text.isEmpty() ? "" : Instant.parse(text).toString();
        } catch (DateTimeParseException e) {
            throw body.wrong(path, "no such time", "a time by RFC 3339");
        }
    }
}
