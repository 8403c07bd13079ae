// Pets in Go behind a token bucket of golang.org/x/time/rate. Arguments: the file with the milliseconds by which its time
// is ahead of the machine's, and the keys, each with its requests a minute. Prints its port; ends with its standard input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

type pet struct {
	Id         int64   `json:"id"`
	Name       *string `json:"name"`
	CategoryId *int64  `json:"categoryId"`
	Status     *string `json:"status,omitempty"`
}

var (
	statuses  = []string{"available", "pending", "sold"}
	perMinute = map[string]int{}
	mutex     sync.Mutex
	pets      = []pet{}
	buckets   = map[string]*rate.Limiter{}
)

func now() time.Time {
	text, _ := os.ReadFile(os.Args[1])
	ahead, _ := strconv.ParseInt(string(text), 10, 64)
	return time.Now().Add(time.Duration(ahead) * time.Millisecond)
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, _ := json.Marshal(body)
	w.Write(text)
}

func fail(w http.ResponseWriter, status int, code string) {
	send(w, status, map[string]any{"code": code, "message": http.StatusText(status), "status": status})
}

// The bucket of a caller, who holds the mutex.
func bucketOf(id string, limit int) *rate.Limiter {
	if buckets[id] == nil {
		buckets[id] = rate.NewLimiter(rate.Limit(float64(limit)/60), limit)
	}
	return buckets[id]
}

func limited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		limit, isKnown := perMinute[key]
		isKnown = isKnown && isBearer && key != ""
		if !isKnown {
			key, limit = "", perMinute[""]
		}
		mutex.Lock()
		at := now()
		bucket := bucketOf(key, limit)
		isAdmitted := bucket.AllowN(at, 1)
		left := bucket.TokensAt(at)
		mutex.Unlock()
		perSecond := float64(bucket.Limit())
		full := at.Add(time.Duration((float64(bucket.Burst()) - left) / float64(limit) * float64(time.Minute)))
		w.Header().Set("X-RateLimit-Limit", strconv.Itoa(limit))
		w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(int(max(left, 0))))
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(full.Unix()+1, 10))
		switch {
		case !isAdmitted:
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil((1-left)/perSecond))))
			fail(w, http.StatusTooManyRequests, "rate_limited")
		case !isKnown:
			fail(w, http.StatusUnauthorized, "unauthorized")
		default:
			next(w, r)
		}
	}
}

func list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if !query.Has("limit") {
		limit, err = 20, nil
	}
	status := query.Get("status")
	if err != nil || limit < 1 || limit > 100 || query.Has("status") && !slices.Contains(statuses, status) {
		fail(w, http.StatusBadRequest, "bad_query")
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	found := []pet{}
	for _, one := range pets {
		if len(found) < limit && (status == "" || one.Status != nil && *one.Status == status) {
			found = append(found, one)
		}
	}
	send(w, http.StatusOK, found)
}

func add(w http.ResponseWriter, r *http.Request) {
	var sent pet
	var fields map[string]json.RawMessage
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &sent)
	}
	// For encoding/json, Name is name too.
	json.Unmarshal(text, &fields)
	if _, hasName := fields["name"]; !hasName {
		sent.Name = nil
	}
	if _, hasCategory := fields["categoryId"]; !hasCategory {
		sent.CategoryId = nil
	}
	if err != nil || sent.Name == nil || sent.CategoryId == nil ||
		sent.Status != nil && !slices.Contains(statuses, *sent.Status) {
		fail(w, http.StatusBadRequest, "invalid_animal")
		return
	}
	mutex.Lock()
	defer mutex.Unlock()
	sent.Id = int64(len(pets) + 1)
	pets = append(pets, sent)
	send(w, http.StatusCreated, sent)
}

func get(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	mutex.Lock()
	defer mutex.Unlock()
	at := slices.IndexFunc(pets, func(one pet) bool { return one.Id == id })
	if err != nil || at < 0 {
		fail(w, http.StatusNotFound, "not_found")
		return
	}
	send(w, http.StatusOK, pets[at])
}

func main() {
	for _, key := range os.Args[2:] {
		value, limit, _ := strings.Cut(key, "=")
		perMinute[value], _ = strconv.Atoi(limit)
	}
	http.HandleFunc("GET /v1/pets", limited(list))
	http.HandleFunc("POST /v1/pets", limited(add))
	http.HandleFunc("GET /v1/pets/{id}", limited(get))
	http.HandleFunc("/", limited(func(w http.ResponseWriter, r *http.Request) { fail(w, http.StatusNotFound, "not_found") }))
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, nil))
}
