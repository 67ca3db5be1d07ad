package dev.culvert.http.problem;

import dev.culvert.http.problem.Problem.Hop;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * Renders a problem as an HTML page. The page loads nothing, runs nothing, and states the same facts as the
 * JSON.
 */
final class ProblemPage {
    static final String MEDIA_TYPE = "text/html; charset=utf-8";

    private static final String STYLE = """
            body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1rem;color:#222;background:#fff}\
            h1{font-size:1.5rem}.way{padding:.75rem 1rem;background:#f2f2f2;border-radius:.5rem}\
            .way strong{color:#fff;background:#b3261e;padding:.1rem .4rem;border-radius:.25rem}\
            .small{color:#666;font-size:.85rem;overflow-wrap:anywhere}\
            @media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}.way{background:#2b2b2b}.small{color:#999}}""";

    /** Allows only the style above, so that even an unescaped text would have no effect. */
    static final String SECURITY_POLICY = "default-src 'none'; style-src '" + sha256(STYLE)
            + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private ProblemPage() {}

    static byte[] of(Problem problem, String requestId) {
        String title = problem.cause().status() + " " + escaped(problem.title());
        var page = new StringBuilder(2048)
                .append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<meta name=\"viewport\" content=\"width=device-width\"><title>")
                .append(title)
                .append("</title><style>")
                .append(STYLE)
                .append("</style></head>\n<body><main><h1>")
                .append(title)
                .append("</h1>\n<p>")
                .append(escaped(problem.detail()))
                .append("</p>\n<p class=\"way\">")
                .append(way(problem.hop()))
                .append("</p>\n");
        if (problem.retryAfterSeconds() > 0) {
            page.append("<p>Try again in ").append(problem.retryAfterSeconds()).append(" s.</p>\n");
        }
        return page.append("<p class=\"small\">")
                .append(escaped(problem.cause().type()))
                .append("<br>Request ")
                .append(escaped(requestId))
                .append("</p></main></body></html>\n")
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    /** {@code You → edge → tunnel → router → service}, with the failed hop marked. */
    private static String way(Hop hop) {
        var way = new StringBuilder("You");
        for (Hop each : Hop.values()) {
            String word = each == Hop.UPSTREAM ? "service" : each.word();
            way.append(" → ")
                    .append(each == hop
                            ? "<strong title=\"failed here\">" + word + "</strong>"
                            : word);
        }
        return way.toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    private static String sha256(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
