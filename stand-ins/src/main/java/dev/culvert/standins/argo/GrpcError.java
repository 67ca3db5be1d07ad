package dev.culvert.standins.argo;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** An error in the form of gRPC gateways. Carries no stack trace. */
final class GrpcError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final int code;

    private GrpcError(int status, int code, String message) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
    }

    static GrpcError invalidArgument(String message) {
        return new GrpcError(400, 3, message);
    }

    static GrpcError failedPrecondition(String message) {
        return new GrpcError(400, 9, message);
    }

    static GrpcError notFound(String message) {
        return new GrpcError(404, 5, message);
    }

    static GrpcError internal(String message) {
        return new GrpcError(500, 13, message);
    }

    static GrpcError unauthenticated() {
        return new GrpcError(401, 16,
                "token not valid. see https://argo-workflows.readthedocs.io/en/latest/faq/");
    }

    int status() {
        return status;
    }

    ObjectNode json() {
        return Crud.parse("{}").put("code", code).put("message", getMessage());
    }
}
