{{/* Routes and policy, with the keys of docs/routing.md: below router of client.yaml, or at the top of router.yaml. */}}
{{- define "culvert.routing" -}}
{{- $router := index .Values "internal-router" -}}
{{- $routing := deepCopy $router.routing -}}
{{- if .Values.global.runtime.singleNamespace -}}
{{- range (((($routing).policy).webhooks).allow) -}}
{{- if not (hasPrefix (printf "%s/" $.Release.Namespace) .) -}}
{{- fail (printf "internal-router.routing.policy.webhooks.allow: %s is not in %s, but global.runtime.singleNamespace is true" . $.Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $routing -}}
{{- end -}}
