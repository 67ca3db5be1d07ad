package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * The raw endpoint: {@code GET /app-proxy/api/files?repo=…&branchName=…&path=…} answers with a file's
 * content, of any kind and size up to a bound. Its entity tag is the id of the file's blob. What is in the
 * file is not trusted: a browser saves it, and runs nothing of it.
 */
final class RawFiles {
    static final String PATH = "/app-proxy/api/files";

    private final Commits commits;
    private final RawReads reads;
    private final long maxInlineBytes;

    RawFiles(CommitsSettings settings, Commits commits) {
        this.commits = commits;
        this.reads = new RawReads(settings.cacheFolder(), settings.maxRawBytes().bytes(),
                settings.maxRawReads());
        this.maxInlineBytes = settings.maxReadBytes().bytes();
    }

    /** The number of reads in progress. */
    long open() {
        return reads.open();
    }

    /** Answers a caller that may see the branch. Errors: HandlerException, as {@link Commits#raw}. */
    Mono<EdgeResponse> serve(EdgeRequest request, Target target, AuthenticatedCaller caller, Branch branch,
            FilePath path) {
        Set<String> known = known(request.headers());
        boolean content = !request.method().equals(HttpMethod.HEAD);
        return Mono.defer(() -> {
            RawReads.Read read = reads.open(caller.account() + "/" + caller.id(),
                    revision -> known.contains("*") || known.contains(revision), content);
            return Mono.firstWithSignal(read.cut().<EdgeResponse>then(Mono.never()),
                    commits.raw(target, caller, branch, path, read)
                            .<EdgeResponse>map(file -> response(file, path, read)))
                    .doOnError(error -> read.close())
                    .doOnCancel(read::unlessAnswered);
        });
    }

    private static EdgeResponse response(RawFile file, FilePath path, RawReads.Read read) {
        HttpHeaders headers = new DefaultHttpHeaders()
                .set(HttpHeaderNames.ETAG, "\"" + file.revision() + "\"")
                .set(HttpHeaderNames.CACHE_CONTROL, "private, no-cache");
        if (file.size() == RawFile.UNREAD) {
            read.close();
            return EdgeResponse.Http.streaming(HttpResponseStatus.NOT_MODIFIED, headers, read.parts());
        }
        headers.set(HttpHeaderNames.CONTENT_LENGTH, file.size())
                .set(HttpHeaderNames.CONTENT_TYPE, "application/octet-stream")
                .set(HttpHeaderNames.CONTENT_DISPOSITION, disposition(path))
                .set("x-content-type-options", "nosniff")
                .set("content-security-policy", "default-src 'none'; sandbox");
        return EdgeResponse.Http.streaming(HttpResponseStatus.OK, headers, read.parts())
                .holding(read.answered());
    }

    /** RFC 6266: the name for all, and the name as it is for those who understand it. */
    private static String disposition(FilePath path) {
        String name = path.segments().getLast();
        return "attachment; filename=\"" + name.replaceAll("[^A-Za-z0-9._-]", "_")
                + "\"; filename*=UTF-8''" + encoded(name);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A");
    }

    /** The revisions in {@code If-None-Match}, which compares weakly (RFC 9110 §13.1.2). */
    private static Set<String> known(HttpHeaders headers) {
        Set<String> known = new HashSet<>();
        for (String field : headers.getAll(HttpHeaderNames.IF_NONE_MATCH)) {
            for (String tag : List.of(field.split(",", -1))) {
                String strong = tag.strip().replaceFirst("^W/", "");
                known.add(strong.replaceFirst("^\"(.*)\"$", "$1"));
            }
        }
        return known;
    }

    /** Throws HandlerException BODY_TOO_LARGE, which names the endpoint, for a file too large for GraphQL. */
    void checkInline(long size, Target target, Branch branch, FilePath path) {
        if (size > maxInlineBytes) {
            String integration = target.integration().name();
            throw HandlerException.of(Reason.BODY_TOO_LARGE, "the file has " + size
                    + " bytes, and readFile answers with at most " + maxInlineBytes + ": GET " + PATH
                    + "?repo=" + encoded(target.repository()) + "&branchName=" + encoded(branch.name())
                    + "&path=" + encoded(path.text()) + "&integrationName=" + encoded(integration));
        }
    }
}
