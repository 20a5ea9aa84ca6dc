/*
 * A voice device in C, with libcurl and libwebsockets (Debian: libcurl4-openssl-dev, libwebsockets-dev):
 *
 *   cc -O2 -Wall -o device device.c -lcurl -lwebsockets -lm
 *   npx voicectl drill -- ./device
 *
 * Replace next_frame() and play() with your audio input and output.
 */
#include <curl/curl.h>
#include <libwebsockets.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  frame_us = 20000,
  samples_per_frame = 320, /* 16 kHz, 16-bit, mono */
  frame_bytes = 2 * samples_per_frame,
  answer_within_s = 5,
  ping_after_s = 4,
  hang_up_after_s = 8,
  healthy_s = 10,
  first_wait_ms = 500,
  longest_wait_ms = 30000,
  largest_body = 64 * 1024,
};

static const char *base_url, *ws_url, *api_key, *device_id, *certificates;
static volatile sig_atomic_t stopping;

static void stop(int number) {
  (void)number;
  stopping = 1;
}

static const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value != NULL && *value != '\0' ? value : otherwise;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The token endpoint. */

struct body {
  char text[largest_body + 1];
  size_t length;
};

static size_t take_body(char *data, size_t size, size_t count, void *user) {
  struct body *body = user;
  size_t bytes = size * count;
  if (body->length + bytes > largest_body) return 0;
  memcpy(body->text + body->length, data, bytes);
  body->length += bytes;
  body->text[body->length] = '\0';
  return bytes;
}

/* The value of "token": a JWT has no characters that JSON escapes. Use a JSON library for anything more. */
static int read_token(const char *json, char *token, size_t size) {
  const char *name = strstr(json, "\"token\"");
  const char *start = name == NULL ? NULL : strchr(name + 7, '"');
  const char *end = start == NULL ? NULL : strchr(start + 1, '"');
  if (end == NULL || (size_t)(end - start) > size) return -1;
  memcpy(token, start + 1, (size_t)(end - start - 1));
  token[end - start - 1] = '\0';
  return 0;
}

/* Returns 0 with a token for one connection: use it at once. Otherwise sets `retry_after`: how long to wait, in s. */
static int request_token(char *token, size_t size, long *retry_after) {
  static struct body body;
  char url[512], json[1024];
  long status = 0;
  curl_off_t wait = 0;
  body.length = 0;
  body.text[0] = '\0';
  snprintf(url, sizeof url, "%s/api/websocket-voice/token", base_url);
  /* Key and device must not need escaping. */
  snprintf(json, sizeof json, "{\"apiKey\":\"%s\",\"deviceId\":\"%s\"}", api_key, device_id);

  CURL *curl = curl_easy_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Accept: application/json");
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L); /* The key is only for this address. */
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)answer_within_s);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  if (certificates != NULL) curl_easy_setopt(curl, CURLOPT_CAINFO, certificates);
  CURLcode result = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  *retry_after = (long)wait;
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  if (result == CURLE_OK && status == 200 && read_token(body.text, token, size) == 0) return 0;
  fprintf(stderr, "No token: %s, status %ld\n", curl_easy_strerror(result), status);
  return -1;
}

/* The stream. */

struct stream {
  struct lws *socket;
  lws_sorted_usec_list_t deadline, next;
  const char *token;
  int presented, confirmed, ended;
  double started;
  unsigned long sent;
  char text[512];
  size_t text_length;
};

/* A tone in place of a microphone: s16le. */
static void next_frame(unsigned char *frame) {
  static unsigned long at;
  for (int i = 0; i < samples_per_frame; i += 1, at += 1) {
    int16_t sample = (int16_t)(8000 * sin(2 * 3.14159265358979 * 440 * (double)at / 16000));
    frame[2 * i] = (unsigned char)((uint16_t)sample & 0xff);
    frame[2 * i + 1] = (unsigned char)((uint16_t)sample >> 8);
  }
}

/* The bytes go to the loudspeaker in order: a message may end within a sample. */
static void play(const unsigned char *data, size_t bytes) {
  (void)data;
  (void)bytes;
}

static void give_up(lws_sorted_usec_list_t *timer) {
  struct stream *stream = lws_container_of(timer, struct stream, deadline);
  if (!stream->confirmed && stream->socket != NULL)
    lws_set_timeout(stream->socket, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

static void tick(lws_sorted_usec_list_t *timer) {
  struct stream *stream = lws_container_of(timer, struct stream, next);
  if (stream->socket != NULL) lws_callback_on_writable(stream->socket);
}

/* Unknown kinds are ignored: later versions may add them. */
static void take_text(struct lws *socket, struct stream *stream, const char *data, size_t bytes) {
  if (lws_is_first_fragment(socket)) stream->text_length = 0;
  size_t room = sizeof stream->text - 1 - stream->text_length;
  size_t kept = bytes < room ? bytes : room;
  memcpy(stream->text + stream->text_length, data, kept);
  stream->text_length += kept;
  stream->text[stream->text_length] = '\0';
  if (stream->confirmed || !lws_is_final_fragment(socket)) return;
  if (strstr(stream->text, "\"service_voice_connected\"") == NULL) return;
  stream->confirmed = 1;
  stream->started = seconds();
  lws_callback_on_writable(socket);
}

static int write_next(struct lws *socket, struct stream *stream) {
  if (stopping) {
    lws_close_reason(socket, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
    return -1;
  }
  if (!stream->presented) {
    unsigned char buffer[LWS_PRE + 4096];
    size_t bytes = strlen(stream->token);
    stream->presented = 1;
    memcpy(buffer + LWS_PRE, stream->token, bytes);
    return lws_write(socket, buffer + LWS_PRE, bytes, LWS_WRITE_TEXT) < 0 ? -1 : 0;
  }
  if (!stream->confirmed) return 0;
  double due = stream->started + (double)stream->sent * frame_us / 1e6 - seconds();
  if (due <= 0) {
    unsigned char buffer[LWS_PRE + frame_bytes];
    next_frame(buffer + LWS_PRE);
    stream->sent += 1;
    if (lws_write(socket, buffer + LWS_PRE, frame_bytes, LWS_WRITE_BINARY) < 0) return -1;
    due += frame_us / 1e6;
  }
  /*
   * After a delay it catches up, one frame at a time. lws_service sleeps for whole milliseconds and spins for the rest:
   * the additional 100 us have passed when the sleep ends.
   */
  lws_usec_t wait_us = due > 0 ? (lws_usec_t)ceil(due * 1e3) * 1000 + 100 : 1;
  lws_sul_schedule(lws_get_context(socket), 0, &stream->next, tick, wait_us);
  return 0;
}

/* Wakes lws_service, which would otherwise keep sleeping after a timer has ended a connection. */
static void end(struct lws *socket, struct stream *stream) {
  stream->ended = 1;
  lws_cancel_service(lws_get_context(socket));
}

static int on_event(struct lws *socket, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
  struct stream *stream = user;
  switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
      lws_callback_on_writable(socket);
      break;
    case LWS_CALLBACK_CLIENT_RECEIVE:
      if (lws_frame_is_binary(socket)) play(in, length);
      else take_text(socket, stream, in, length);
      break;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
      return write_next(socket, stream);
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
      fprintf(stderr, "No connection: %s\n", in == NULL ? "it failed" : (const char *)in);
      end(socket, stream);
      break;
    case LWS_CALLBACK_CLIENT_CLOSED:
      end(socket, stream);
      break;
    default:
      break;
  }
  return 0;
}

static const struct lws_protocols protocols[] = {{"", on_event, 0, 4096, 0, NULL, 0}, {0}};
/* Sends a ping when nothing has arrived for a while, and hangs up if still nothing arrives. */
static const lws_retry_bo_t liveness = {
    .secs_since_valid_ping = ping_after_s,
    .secs_since_valid_hangup = hang_up_after_s,
};

/* Talks until the connection ends, for whatever reason. */
static void converse(struct lws_context *context, const char *token) {
  struct stream stream = {.token = token};
  char url[512];
  const char *scheme, *host, *path;
  int port;
  snprintf(url, sizeof url, "%s/", ws_url);
  if (lws_parse_uri(url, &scheme, &host, &port, &path) != 0) return;
  struct lws_client_connect_info info = {
      .context = context,
      .address = host,
      .host = host,
      .port = port,
      .path = "/voice-stream",
      .ssl_connection = strcmp(scheme, "wss") == 0 ? LCCSCF_USE_SSL : 0,
      .local_protocol_name = "",
      .ietf_version_or_minus_one = -1,
      .retry_and_idle_policy = &liveness,
      .userdata = &stream,
      .pwsi = &stream.socket,
  };
  char authority[256];
  snprintf(authority, sizeof authority, "%s:%d", host, port);
  info.host = authority;
  lws_sul_schedule(context, 0, &stream.deadline, give_up, (lws_usec_t)answer_within_s * LWS_US_PER_SEC);
  if (lws_client_connect_via_info(&info) == NULL) stream.ended = 1;
  while (!stream.ended) {
    if (lws_service(context, 0) < 0) break;
    if (stopping && stream.socket != NULL && !stream.ended) lws_callback_on_writable(stream.socket);
  }
  lws_sul_cancel(&stream.deadline);
  lws_sul_cancel(&stream.next);
}

static void wait_ms(long ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  if (!stopping) nanosleep(&pause, NULL);
}

int main(void) {
  char derived[512], token[4000];
  base_url = setting("VOICECTL_BASE_URL", "http://127.0.0.1:8787");
  snprintf(derived, sizeof derived, "ws%s", base_url + 4);
  ws_url = setting("VOICECTL_WS_URL", derived);
  api_key = setting("VOICECTL_API_KEY", "voicectl-development-key");
  device_id = setting("VOICECTL_DEVICE", "c-device");
  certificates = setting("VOICECTL_CA", NULL);
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  srandom((unsigned)time(NULL) ^ (unsigned)getpid());

  curl_global_init(CURL_GLOBAL_DEFAULT);
  lws_set_log_level(LLL_ERR, NULL);
  struct lws_context_creation_info settings = {
      .port = CONTEXT_PORT_NO_LISTEN,
      .protocols = protocols,
      .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | (certificates ? LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS : 0),
      .client_ssl_ca_filepath = certificates,
      .timeout_secs = answer_within_s,
  };
  struct lws_context *context = lws_create_context(&settings);
  if (context == NULL) return 1;

  for (int failures = 0; !stopping; failures += 1) {
    long retry_after = 0;
    double started = seconds();
    /* A token is for one connection, and is used at once. */
    if (request_token(token, sizeof token, &retry_after) == 0) converse(context, token);
    if (seconds() - started >= healthy_s) failures = 0;
    /* Exponential backoff with jitter, but never sooner than the service allows. */
    long backoff = failures > 6 ? longest_wait_ms : (long)first_wait_ms << failures;
    if (backoff > longest_wait_ms) backoff = longest_wait_ms;
    backoff += backoff * (random() % 25) / 100;
    wait_ms(backoff > retry_after * 1000 ? backoff : retry_after * 1000);
  }
  lws_context_destroy(context);
  curl_global_cleanup();
  return 0;
}
