/** k6 writes its metrics to Prometheus while it runs, as native histograms. */
export const TO_PROMETHEUS = '--out=experimental-prometheus-rw';

export const prometheusEnvironment = (url: string) => ({
  K6_PROMETHEUS_RW_SERVER_URL: url,
  K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM: 'true',
});
