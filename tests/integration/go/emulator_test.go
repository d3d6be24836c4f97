// Google's own Go clients against the Penstock emulator, which runs in a process of its own, as people run it.
package integration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	project      = "go-project"
	startTimeout = 20 * time.Second
	callTimeout  = 60 * time.Second
)

// Where the emulator listens.
var restEndpoint, grpcEndpoint string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// No metadata server: the clients must not look for credentials there.
	os.Setenv("GCE_METADATA_HOST", "127.0.0.1:1")
	command, err := startEmulator()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	command.Process.Signal(syscall.SIGTERM)
	if err := command.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "the emulator did not end well:", err)
		return 1
	}
	return code
}

// The program: $PENSTOCK, else the one that `make build` leaves.
func binary() string {
	if path := os.Getenv("PENSTOCK"); path != "" {
		return path
	}
	return filepath.Join("..", "..", "..", "bin", "penstock")
}

func startEmulator() (*exec.Cmd, error) {
	command := exec.Command(binary(), "emulate", "--rest-port", "0", "--grpc-port", "0")
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	listening := make(chan bool, 1)
	go func() {
		pattern := regexp.MustCompile(`REST on http://([\d.:]+), gRPC on ([\d.:]+)`)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if found := pattern.FindStringSubmatch(lines.Text()); found != nil {
				restEndpoint, grpcEndpoint = found[1], found[2]
				listening <- true
			}
		}
		listening <- false
	}()
	select {
	case good := <-listening:
		if good {
			return command, nil
		}
		command.Wait()
		return nil, errors.New("the emulator ended at once")
	case <-time.After(startTimeout):
		command.Process.Kill()
		return nil, errors.New("the emulator did not say where it listens")
	}
}

func callContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	t.Cleanup(cancel)
	return ctx
}

func restClient(t *testing.T) *bigquery.Client {
	t.Helper()
	client, err := bigquery.NewClient(callContext(t), project,
		option.WithEndpoint("http://"+restEndpoint), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func writerClient(t *testing.T) *managedwriter.Client {
	t.Helper()
	client, err := managedwriter.NewClient(callContext(t), project, option.WithEndpoint(grpcEndpoint),
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// A dataset of the test's own.
func makeDataset(t *testing.T, client *bigquery.Client, name string) *bigquery.Dataset {
	t.Helper()
	dataset := client.Dataset(name)
	if err := dataset.Create(callContext(t), &bigquery.DatasetMetadata{Location: "EU"}); err != nil {
		t.Fatal(err)
	}
	return dataset
}

func makeTable(t *testing.T, dataset *bigquery.Dataset, name string, schema bigquery.Schema) *bigquery.Table {
	t.Helper()
	table := dataset.Table(name)
	if err := table.Create(callContext(t), &bigquery.TableMetadata{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	return table
}

// The rows of a table, as text.
func rowsOf(t *testing.T, table *bigquery.Table) string {
	t.Helper()
	text := ""
	for rows := table.Read(callContext(t)); ; {
		var row []bigquery.Value
		err := rows.Next(&row)
		if err == iterator.Done {
			return text
		}
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprint(row)
	}
}

// The REST error that a call is expected to end with.
func expectRestError(t *testing.T, err error, code int, reason, message string) {
	t.Helper()
	var apiError *googleapi.Error
	if !errors.As(err, &apiError) {
		t.Fatalf("expected an error %d, found %v", code, err)
	}
	if apiError.Code != code || len(apiError.Errors) != 1 || apiError.Errors[0].Reason != reason ||
		!regexp.MustCompile(message).MatchString(apiError.Message) {
		t.Errorf("expected %d %s %q, found %v", code, reason, message, apiError)
	}
}
