package dev.culvert.platform.signing;

import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.JsonBodies.Items;
import dev.culvert.platform.host.rest.Page;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.host.rest.Right;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.signing.Signer.Signed;
import dev.culvert.platform.signing.store.SigningTable;
import dev.culvert.platform.signing.store.StoredCertificate;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The REST calls of certificates. */
final class SigningCalls {
    static final String ROOT = "/api/custom_clusters";
    private static final Right SIGN = Right.of("clusters", "CREATE");
    /** Entries of zip files have a time, which would tell two answers apart. */
    private static final long NO_TIME = 315_532_800_000L;

    private final Signer signer;
    private final Store store;

    private SigningCalls(Signer signer, Store store) {
        this.signer = signer;
        this.store = store;
    }

    /** The body that asks for a server's certificate. */
    record ServerRequest(String reqSubjectAltName, String csr) {
        static ServerRequest of(JsonFields fields) {
            return new ServerRequest(fields.text("reqSubjectAltName"), fields.text("csr"));
        }
    }

    /** The body that asks for a client's certificate. */
    record ClientRequest(String csr) {
        static ClientRequest of(JsonFields fields) {
            return new ClientRequest(fields.text("csr"));
        }
    }

    /** The names that an account may ask for. */
    record Names(List<String> names) {
        static Names of(JsonFields fields) {
            return new Names(fields.requiredTexts("names"));
        }
    }

    /** A certificate that was signed. */
    record Certificate(String serial, String kind, String names, long created, long ends,
            @Nullable Long revoked) {
        static Certificate of(StoredCertificate stored) {
            return new Certificate(stored.serial(), stored.kind(), stored.names(), stored.created(),
                    stored.ends(), stored.revoked());
        }
    }

    static List<RestCall> of(Signer signer, Store store) {
        var calls = new SigningCalls(signer, store);
        return List.of(
                RestCall.of(HttpMethod.POST, ROOT + "/signServerCerts", SIGN,
                        "Signs a server's certificate; a zip with cf-ca.pem and cf-server-cert.pem",
                        calls::server).takes(ServerRequest.class).gives(Certificate.class),
                RestCall.of(HttpMethod.POST, ROOT + "/clientCerts", SIGN,
                        "Signs a client's certificate; a zip with cf-ca.pem and cf-cert.pem", calls::client)
                        .takes(ClientRequest.class)
                        .gives(Certificate.class),
                RestCall.of(HttpMethod.GET, ROOT + "/names", SIGN, "The names that servers may have",
                        calls::names).gives(Names.class),
                RestCall.of(HttpMethod.PUT, ROOT + "/names", Who.ADMIN,
                        "Sets the names that servers may have; none: the usual ones", calls::setNames)
                        .takes(Names.class)
                        .gives(Names.class),
                RestCall.of(HttpMethod.GET, ROOT + "/certificates", Who.ADMIN,
                        "The certificates that have not expired", calls::certificates)
                        .pages(Certificate.class),
                RestCall.of(HttpMethod.DELETE, ROOT + "/certificates/{serial}", Who.ADMIN,
                        "Revokes a certificate", calls::revoke),
                RestCall.of(HttpMethod.GET, ROOT + "/crl", Who.ANYONE,
                        "The revoked certificates of an account, as application/pkix-crl", calls::revocations)
                        .asks("account"));
    }

    private Mono<EdgeResponse> server(CallScope scope) {
        return JsonBodies.read(scope.request(), ServerRequest.class, ServerRequest::of).flatMap(wanted -> {
            WantedNames names = WantedNames.parse(wanted.reqSubjectAltName());
            scope.content().accept(" " + names.text());
            return signer.server(scope.account(), names, wanted.csr());
        }).map(signed -> zip(signed, "cf-server-cert.pem"));
    }

    private Mono<EdgeResponse> client(CallScope scope) {
        return JsonBodies.read(scope.request(), ClientRequest.class, ClientRequest::of)
                .flatMap(wanted -> signer.client(scope.account(), wanted.csr()))
                .map(signed -> zip(signed, "cf-cert.pem"));
    }

    private static EdgeResponse zip(Signed signed, String name) {
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, String> file : new TreeMap<>(
                    Map.of("cf-ca.pem", signed.authority(), name, signed.certificate())).entrySet()) {
                var entry = new ZipEntry(file.getKey());
                entry.setTime(NO_TIME);
                zip.putNextEntry(entry);
                zip.write(file.getValue().getBytes(StandardCharsets.US_ASCII));
                zip.closeEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("memory takes all bytes", e);
        }
        return EdgeResponse.Http.of(HttpResponseStatus.OK, "application/zip", bytes.toByteArray())
                .with("cache-control", "no-store");
    }

    private Mono<EdgeResponse> names(CallScope scope) {
        return signer.allowed(scope.account())
                .map(names -> JsonBodies.answer(HttpResponseStatus.OK, new Names(names)));
    }

    private Mono<EdgeResponse> setNames(CallScope scope) {
        return JsonBodies.read(scope.request(), Names.class, Names::of).flatMap(wanted -> {
            List<String> names = wanted.names().stream().distinct().toList();
            if (names.size() > Signer.MAX_NAMES) {
                throw HandlerException.of(Reason.BAD_REQUEST,
                        "names: " + names.size() + " (expected: at most " + Signer.MAX_NAMES + ")");
            }
            WantedNames.requireAllowed(names);
            scope.content().accept(" " + names);
            return store.change(scope.account(), connection -> {
                SigningTable.setNames(connection, scope.account(), names);
                return true;
            });
        }).then(Mono.defer(() -> names(scope)));
    }

    private Mono<EdgeResponse> certificates(CallScope scope) {
        Page page = scope.page();
        return store
                .read(connection -> SigningTable.page(connection, scope.account(), page.after(), page.read()))
                .publishOn(Schedulers.boundedElastic())
                .map(found -> page.of(found, StoredCertificate::serial))
                .map(found -> JsonBodies.answer(HttpResponseStatus.OK, new Items<>(
                        found.items().stream().map(Certificate::of).toList(), found.next())));
    }

    private Mono<EdgeResponse> revoke(CallScope scope) {
        return signer.revoke(scope.account(), scope.segment("serial"))
                .map(done -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT));
    }

    private Mono<EdgeResponse> revocations(CallScope scope) {
        String account = scope.query("account");
        return account == null
                ? Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                        "query account: missing (expected: the account's id)"))
                : signer.revocations(account)
                        .map(list -> EdgeResponse.Http.of(HttpResponseStatus.OK, "application/pkix-crl",
                                list));
    }
}
