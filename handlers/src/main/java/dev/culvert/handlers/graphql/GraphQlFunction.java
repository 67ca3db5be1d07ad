package dev.culvert.handlers.graphql;

import java.util.Map;

/**
 * The part of the schema that one handler adds. A handler that implements this in addition to {@link
 * dev.culvert.handlers.spi.EdgeHandler} is reachable through GraphQL. A handler without a mount is reachable
 * only through GraphQL.
 */
public interface GraphQlFunction {
    /**
     * The part of the schema in GraphQL's schema language: own types, {@code extend type Query}, {@code
     * extend type Mutation}, {@code extend type Subscription}.
     */
    String schema();

    /**
     * The resolvers of the declared root fields, one for each, with the keys {@code Query.<field>} and {@code
     * Mutation.<field>}.
     */
    Map<String, GraphQlField> fields();

    /**
     * The streams of the declared subscriptions, one for each, with the keys {@code Subscription.<field>}.
     */
    default Map<String, GraphQlStream> streams() {
        return Map.of();
    }
}
