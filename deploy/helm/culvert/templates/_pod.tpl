{{/*
The pod of a part: (dict "root" $ "name" … "part" … "values" … "config" … "ports" … "probes" … "mounts" … "volumes" … )
  part      the command of the launcher
  values    the values of the part
  settled   the settings that only count after a restart: pods are replaced when they change
  ports     name: number
  probe     port, scheme and prefix of /healthz and /readyz
  mounts, volumes   in addition to configuration and /tmp
  env       in addition to the values' own
  apiToken  whether the part calls the Kubernetes API
  preStop   seconds between the end of traffic's routing to the pod and SIGTERM
*/}}
{{- define "culvert.pod" -}}
metadata:
  labels:
    {{- include "culvert.selector" . | nindent 4 }}
    {{- with .values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/settings: {{ .settled | toJson | sha256sum }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ .name }}
  automountServiceAccountToken: {{ .apiToken | default false }}
  enableServiceLinks: false
  # preStop, then 30 s of drain, then at most 10 s until a drain that hangs is given up.
  terminationGracePeriodSeconds: {{ add 45 (.preStop | default 0) }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.nodeSelector | default .root.Values.global.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations | default .root.Values.global.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "culvert.selector" $ | nindent 10 }}
    {{- end }}
  containers:
    - name: {{ .part }}
      image: {{ include "culvert.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [{{ .part }}, --config, /etc/culvert/config/{{ .part }}.yaml]
      {{- $env := concat (.env | default list) .values.env }}
      {{- with .values.javaOptions }}
      {{- $env = append $env (dict "name" "CULVERT_JAVA_OPTS" "value" .) }}
      {{- end }}
      {{- with $env }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- range $name, $port := .ports }}
        - { name: {{ $name }}, containerPort: {{ $port }} }
        {{- end }}
      startupProbe:
        httpGet: { path: {{ .probe.prefix }}/healthz, port: {{ .probe.port }}, scheme: {{ .probe.scheme | default "HTTP" }} }
        periodSeconds: 1
        failureThreshold: 120
      livenessProbe:
        httpGet: { path: {{ .probe.prefix }}/healthz, port: {{ .probe.port }}, scheme: {{ .probe.scheme | default "HTTP" }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: {{ .probe.prefix }}/readyz, port: {{ .probe.port }}, scheme: {{ .probe.scheme | default "HTTP" }} }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 1
      {{- with .preStop }}
      lifecycle:
        preStop:
          sleep: { seconds: {{ . }} }
      {{- end }}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: config, mountPath: /etc/culvert/config, readOnly: true }
        - { name: tmp, mountPath: /tmp }
        {{- with .mounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with .values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap: { name: {{ .name }} }
    - name: tmp
      emptyDir: { sizeLimit: 256Mi }
    {{- with .volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* ConfigMap, ServiceAccount, PodDisruptionBudget and ServiceMonitor of a part; the arguments of culvert.pod, and
     "config", "monitor" (dict "port" … "scheme" …). */}}
{{- define "culvert.surroundings" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  labels:
    {{- include "culvert.labels" . | nindent 4 }}
data:
  {{ .part }}.yaml: |
    {{- toYaml .config | nindent 4 }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .name }}
  labels:
    {{- include "culvert.labels" . | nindent 4 }}
  {{- with .values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- if and .values.pdb .values.pdb.enabled (gt (int .values.replicaCount) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "culvert.labels" . | nindent 4 }}
spec:
  minAvailable: {{ .values.pdb.minAvailable }}
  selector:
    matchLabels:
      {{- include "culvert.selector" . | nindent 6 }}
{{- end }}
{{- if .root.Values.serviceMonitor.enabled }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ .name }}
  labels:
    {{- include "culvert.labels" . | nindent 4 }}
    {{- with .root.Values.serviceMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "culvert.selector" . | nindent 6 }}
      culvert.dev/metrics: "true"
  endpoints:
    - port: {{ .monitor.port }}
      path: /metrics
      scheme: {{ .monitor.scheme | default "http" }}
      interval: {{ .root.Values.serviceMonitor.interval }}
      {{- if eq (.monitor.scheme | default "http") "https" }}
      # The address of the pod is not a name of the certificate.
      tlsConfig: { insecureSkipVerify: true }
      {{- end }}
{{- end }}
{{- end -}}

{{/* A NetworkPolicy: (dict … "rules" (list of ingress rules)). Probes of the kubelet are not subject to it. */}}
{{- define "culvert.policy" -}}
{{- if .root.Values.networkPolicy.enabled }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}
  labels:
    {{- include "culvert.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "culvert.selector" . | nindent 6 }}
  policyTypes: [Ingress]
  {{- $rules := .rules }}
  {{- if .root.Values.serviceMonitor.enabled }}
  {{- $rules = append $rules (dict "from" (list .root.Values.networkPolicy.prometheus) "ports" (list (dict "port" .monitor.port))) }}
  {{- end }}
  ingress:
    {{- toYaml $rules | nindent 4 }}
{{- end }}
{{- end -}}
