#include "penstock/gcp/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "penstock/base/mutex.h"

namespace penstock::gcp {
namespace {

constexpr size_t kMaxBodyBytes = size_t{256} << 20;
constexpr int kIdlePollMilliseconds = 60'000;  // a request or the end wakes it earlier

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeHeaders {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// One request on its way.
struct Exchange {
  HttpRequest request;
  HttpClient::Callback callback;
  HttpResponse response;
  std::unique_ptr<CURL, FreeEasy> easy;
  std::unique_ptr<curl_slist, FreeHeaders> headers;
  char errorText[CURL_ERROR_SIZE] = {};
};

size_t onBody(char* data, size_t, size_t size, void* to) {
  std::string& body = static_cast<Exchange*>(to)->response.body;
  if (body.size() + size > kMaxBodyBytes) return 0;  // makes curl fail the request
  body.append(data, size);
  return size;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

size_t onHeader(char* data, size_t, size_t size, void* to) {
  const std::string_view line(data, size);
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  static_cast<Exchange*>(to)->response.headers[name] = trimmed(line.substr(colon + 1));
  return size;
}

/// "https://host:port" of a URL: what may be shown.
std::string_view origin(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return url.substr(0, url.find('/'));
  return url.substr(0, url.find('/', scheme + 3));
}

long milliseconds(base::Duration duration) {
  constexpr int64_t kLongest = 24LL * 3600 * 1000 * 365;
  const int64_t count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<long>(std::clamp<int64_t>(count, 1, kLongest));
}

absl::Status failure(const Exchange& exchange, CURLcode code) {
  const absl::StatusCode status = code == CURLE_OPERATION_TIMEDOUT
                                      ? absl::StatusCode::kDeadlineExceeded
                                      : absl::StatusCode::kUnavailable;
  const char* text = exchange.errorText[0] != '\0' ? exchange.errorText : curl_easy_strerror(code);
  return base::makeStatus(status, "no answer from {}: {}", origin(exchange.request.url), text);
}

}  // namespace

/// Owns curl's multi handle and the thread that drives it.
class HttpClient::Worker {
 public:
  explicit Worker(HttpClientOptions options) : options_(std::move(options)) {
    static std::once_flag initialized;
    std::call_once(initialized, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi_ = curl_multi_init();
  }
  ~Worker() { curl_multi_cleanup(multi_); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  static void start(const std::shared_ptr<Worker>& self) {
    self->thread_ = std::thread([self] { self->serve(); });
  }

  void add(std::unique_ptr<Exchange> exchange) {
    {
      base::MutexLock lock(mutex_);
      queued_.push_back(std::move(exchange));
    }
    curl_multi_wakeup(multi_);
  }

  void run(std::function<void()> task) {
    {
      base::MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    curl_multi_wakeup(multi_);
  }

  void stop() {
    {
      base::MutexLock lock(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();  // the thread holds the worker until it leaves
    } else {
      thread_.join();
    }
  }

 private:
  void serve() {
    while (takeQueued()) {
      int running = 0;
      curl_multi_perform(multi_, &running);
      finishEnded();
      curl_multi_poll(multi_, nullptr, 0, kIdlePollMilliseconds, nullptr);
    }
    while (!open_.empty()) {
      while (!open_.empty()) {
        finish(open_.begin()->first, absl::CancelledError("the HTTP client was closed"));
      }
      takeQueued();  // what a callback has sent meanwhile
    }
  }

  /// False when the client is being destroyed.
  bool takeQueued() {
    std::vector<std::unique_ptr<Exchange>> taken;
    std::vector<std::function<void()>> tasks;
    bool stopping = false;
    {
      base::MutexLock lock(mutex_);
      taken.swap(queued_);
      tasks.swap(tasks_);
      stopping = stopping_;
    }
    for (const std::function<void()>& task : tasks) task();
    for (std::unique_ptr<Exchange>& exchange : taken) {
      CURL* easy = prepare(*exchange);
      open_.emplace(easy, std::move(exchange));
      curl_multi_add_handle(multi_, easy);
    }
    return !stopping;
  }

  CURL* prepare(Exchange& exchange) {
    exchange.easy.reset(curl_easy_init());
    CURL* easy = exchange.easy.get();
    const HttpRequest& request = exchange.request;
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (!request.body.empty() || request.method == "POST") {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    }
    curl_slist* headers = curl_slist_append(nullptr, "Expect:");
    for (const std::string& header : request.headers) {
      headers = curl_slist_append(headers, header.c_str());
    }
    exchange.headers.reset(headers);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options_.userAgent.c_str());
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(request.timeout));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     milliseconds(std::min(request.connectTimeout, request.timeout)));
    if (!options_.caFile.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options_.caFile.c_str());
    if (request.withoutProxy) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange.errorText);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, onBody);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, onHeader);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
    return easy;
  }

  void finishEnded() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* easy = message->easy_handle;
      const CURLcode code = message->data.result;
      if (code != CURLE_OK) {
        finish(easy, failure(*open_.at(easy), code));
        continue;
      }
      long httpCode = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &httpCode);
      open_.at(easy)->response.code = static_cast<int>(httpCode);
      finish(easy, absl::OkStatus());
    }
  }

  /// The status is moved on, not shared: nothing of the answer stays with this thread.
  void finish(CURL* easy, absl::Status status) {
    auto found = open_.find(easy);
    const std::unique_ptr<Exchange> exchange = std::move(found->second);
    open_.erase(found);
    curl_multi_remove_handle(multi_, easy);
    const Callback callback = std::move(exchange->callback);
    if (status.ok()) {
      callback(std::move(exchange->response));
    } else {
      callback(std::move(status));
    }
  }

  const HttpClientOptions options_;
  CURLM* multi_ = nullptr;
  std::thread thread_;
  std::unordered_map<CURL*, std::unique_ptr<Exchange>> open_;  // the thread's own

  base::Mutex mutex_;
  std::vector<std::unique_ptr<Exchange>> queued_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> tasks_ PENSTOCK_GUARDED_BY(mutex_);
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

HttpClient::HttpClient(HttpClientOptions options)
    : worker_(std::make_shared<Worker>(std::move(options))) {
  Worker::start(worker_);
}

HttpClient::~HttpClient() { worker_->stop(); }

void HttpClient::send(HttpRequest request, Callback callback) {
  auto exchange = std::make_unique<Exchange>();
  exchange->request = std::move(request);
  exchange->callback = std::move(callback);
  // Held here: the callback may destroy the client, and with it the worker, before add() returns.
  const std::shared_ptr<Worker> worker = worker_;
  worker->add(std::move(exchange));
}

void HttpClient::run(std::function<void()> task) {
  const std::shared_ptr<Worker> worker = worker_;
  worker->run(std::move(task));
}

absl::StatusOr<HttpResponse> HttpClient::sendAndWait(HttpRequest request) {
  std::promise<absl::StatusOr<HttpResponse>> promise;
  std::future<absl::StatusOr<HttpResponse>> answer = promise.get_future();
  send(std::move(request), [&promise](absl::StatusOr<HttpResponse> response) {
    promise.set_value(std::move(response));
  });
  return answer.get();
}

std::string urlEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool unreserved = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
    if (unreserved) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace penstock::gcp
