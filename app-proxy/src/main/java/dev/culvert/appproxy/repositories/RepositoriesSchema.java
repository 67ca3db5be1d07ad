package dev.culvert.appproxy.repositories;

/** The handler's part of the GraphQL schema. */
final class RepositoriesSchema {
    static final String TEXT = """
            enum GitProviders { GITHUB GITLAB BITBUCKET BITBUCKET_SERVER GITEA FOLDER }

            "A repository as its provider tells it."
            type Repository {
              id: ID!
              provider: GitProviders!
              fullName: String!
              cloneUrl: String!
              sshUrl: String
              defaultBranch: String
              isRepoPrivate: Boolean!
              isRepoAdmin: Boolean!
              webUrl: String
            }

            "One page; count is how many are in data."
            type RepositoriesPage { data: [Repository!]! page: Int! count: Int! hasNext: Boolean! }

            "registeredUsers has the caller, or nobody."
            type GitIntegration {
              name: String!
              provider: GitProviders!
              apiUrl: String
              sharingPolicy: String!
              registeredUsers: [String!]!
            }

            type GitWebhook { id: ID! url: String! }

            enum GitCommitState { PENDING SUCCESS FAILURE ERROR }

            "Without integrationName the first integration; page from 1, limit 1..100."
            input GitRepositoriesArgs { integrationName: String page: Int = 1 limit: Int = 50 }

            "username: who the token is of, where the provider asks for it (Bitbucket Cloud)."
            input RegisterToGitIntegrationArgs { name: String token: String! username: String }

            input CreateGitWebhookArgs {
              integrationName: String
              repo: String!
              url: String!
              secret: String!
              events: [String!]
            }

            input SetGitCommitStatusArgs {
              integrationName: String
              repo: String!
              sha: String!
              state: GitCommitState!
              context: String!
              description: String
              targetUrl: String
            }

            extend type Query {
              gitRepositories(args: GitRepositoriesArgs): RepositoriesPage!
              gitIntegrations: [GitIntegration!]!
              gitIntegration(name: String): GitIntegration!
            }

            extend type Mutation {
              registerToGitIntegration(args: RegisterToGitIntegrationArgs!): GitIntegration!
              deregisterFromGitIntegration(integrationName: String): GitIntegration!
              registerRuntimeGitToken(args: RegisterToGitIntegrationArgs!): GitIntegration!
              createGitWebhook(args: CreateGitWebhookArgs!): GitWebhook!
              setGitCommitStatus(args: SetGitCommitStatusArgs!): Boolean!
            }
            """;

    private RepositoriesSchema() {}
}
