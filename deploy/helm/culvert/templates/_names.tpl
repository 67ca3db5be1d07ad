{{/* What is rendered: a runtime (with its mode), a tunnel server, or both. */}}
{{- define "culvert.mode" -}}
{{- $runtime := .Values.global.runtime -}}
{{- if not $runtime.name -}}
{{- if not .Values.server.enabled -}}
{{- fail "set global.runtime.name for a runtime, or server.enabled=true for a tunnel server" -}}
{{- end -}}
none
{{- else if or $runtime.ingress.enabled $runtime.gatewayAPI.enabled -}}
{{- if and $runtime.ingress.enabled (not $runtime.ingress.hosts) -}}
{{- fail "global.runtime.ingress.hosts: name at least one host" -}}
{{- end -}}
{{- if and $runtime.gatewayAPI.enabled (not (and $runtime.gatewayAPI.hosts $runtime.gatewayAPI.parentRefs)) -}}
{{- fail "global.runtime.gatewayAPI: name at least one of hosts and one of parentRefs" -}}
{{- end -}}
ingress
{{- else if $runtime.ingressUrl -}}
{{- if (index .Values "tunnel-client").enabled -}}
{{- fail "global.runtime.ingressUrl and tunnel-client.enabled exclude each other" -}}
{{- end -}}
url
{{- else if (index .Values "tunnel-client").enabled -}}
tunnel
{{- else -}}
{{- fail "enable one of tunnel-client, global.runtime.ingress and global.runtime.gatewayAPI, or set global.runtime.ingressUrl" -}}
{{- end -}}
{{- end -}}

{{/* The URL by which the runtime is called. */}}
{{- define "culvert.url" -}}
{{- $runtime := .Values.global.runtime -}}
{{- $client := index .Values "tunnel-client" -}}
{{- $mode := include "culvert.mode" . -}}
{{- if eq $mode "tunnel" -}}
https://{{ required "global.runtime.account: the account that the runtime belongs to" $runtime.account }}-{{ $runtime.name }}.{{ $client.tunnelServer.subdomainHost | default $client.tunnelServer.host }}
{{- else if eq $mode "url" -}}
{{ $runtime.ingressUrl }}
{{- else if eq $mode "ingress" -}}
{{- if $runtime.ingress.enabled -}}
{{ $runtime.ingress.protocol }}://{{ first $runtime.ingress.hosts }}
{{- else -}}
https://{{ first $runtime.gatewayAPI.hosts }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "culvert.image" -}}
{{- $image := .Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end -}}

{{/* Labels of an object of a part: (dict "root" $ "name" "tunnel-client") */}}
{{- define "culvert.selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end -}}

{{- define "culvert.labels" -}}
{{ include "culvert.selector" . }}
app.kubernetes.io/part-of: culvert
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}
