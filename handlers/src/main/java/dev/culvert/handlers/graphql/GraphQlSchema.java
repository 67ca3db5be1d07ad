package dev.culvert.handlers.graphql;

import graphql.language.ObjectTypeDefinition;
import graphql.schema.DataFetcher;
import graphql.schema.DataFetcherFactories;
import graphql.schema.GraphQLCodeRegistry;
import graphql.schema.GraphQLSchema;
import graphql.schema.idl.RuntimeWiring;
import graphql.schema.idl.SchemaGenerator;
import graphql.schema.idl.SchemaParser;
import graphql.schema.idl.TypeDefinitionRegistry;
import graphql.schema.idl.errors.SchemaProblem;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Joins the parts of several functions into one schema. */
final class GraphQlSchema {
    private static final List<String> ROOTS = List.of("Query", "Mutation", "Subscription");

    /** A GraphQL schema must have a query type. */
    private static final String BASE = """
            extend type Query {
              "The root fields that this endpoint answers, as Query.name, Mutation.name and Subscription.name"
              rootFields: [String!]!
            }
            """;

    private GraphQlSchema() {}

    /**
     * Builds the schema. Throws IllegalArgumentException for parts that conflict and for root fields without
     * a resolver.
     */
    static GraphQLSchema of(Collection<? extends GraphQlFunction> functions) {
        var types = new TypeDefinitionRegistry();
        Map<String, GraphQlField> fields = new TreeMap<>();
        Map<String, GraphQlStream> streams = new TreeMap<>();
        try {
            types.merge(new SchemaParser().parse(BASE));
            functions.forEach(function -> {
                types.merge(new SchemaParser().parse(function.schema()));
                fields.putAll(function.fields());
                streams.putAll(function.streams());
            });
            roots(types);
            var answered = new TreeSet<>(fields.keySet());
            answered.addAll(streams.keySet());
            check(types, answered);
            return new SchemaGenerator().makeExecutableSchema(types, wiring(answered, fields, streams));
        } catch (SchemaProblem e) {
            throw new IllegalArgumentException("the functions' schemas do not fit: " + e.getMessage(), e);
        }
    }

    private static void roots(TypeDefinitionRegistry types) {
        ROOTS.stream()
                .filter(types.objectTypeExtensions()::containsKey)
                .forEach(root -> types
                        .add(ObjectTypeDefinition.newObjectTypeDefinition().name(root).build()));
    }

    private static void check(TypeDefinitionRegistry types, Collection<String> answered) {
        var declared = new TreeSet<String>();
        ROOTS.forEach(root -> types.objectTypeExtensions()
                .getOrDefault(root, List.of())
                .forEach(part -> part.getFieldDefinitions()
                        .forEach(field -> declared.add(root + "." + field.getName()))));
        declared.remove("Query.rootFields");
        if (!declared.equals(new TreeSet<>(answered))) {
            throw new IllegalArgumentException(
                    "root fields declared: " + declared + ", answered: " + new TreeSet<>(answered));
        }
    }

    private static RuntimeWiring wiring(Collection<String> answered, Map<String, GraphQlField> fields,
            Map<String, GraphQlStream> streams) {
        var wiring = RuntimeWiring.newRuntimeWiring()
                .codeRegistry(GraphQLCodeRegistry.newCodeRegistry()
                        .defaultDataFetcher(DataFetcherFactories.useDataFetcher(new Members())));
        List<String> names = List.copyOf(answered);
        wiring.type("Query", type -> type.dataFetcher("rootFields", any -> names));
        fields.forEach((key, field) -> fetch(wiring, key, asked -> GraphQlRun.of(asked).call(field, asked)));
        streams.forEach(
                (key, stream) -> fetch(wiring, key, asked -> GraphQlRun.of(asked).open(stream, asked)));
        return wiring.build();
    }

    private static void fetch(RuntimeWiring.Builder wiring, String key, DataFetcher<?> fetcher) {
        int dot = key.indexOf('.');
        wiring.type(key.substring(0, dot), type -> type.dataFetcher(key.substring(dot + 1), fetcher));
    }
}
