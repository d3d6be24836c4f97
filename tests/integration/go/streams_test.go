package integration

import (
	"context"
	"regexp"
	"testing"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

var people = bigquery.Schema{
	{Name: "name", Type: bigquery.StringFieldType, MaxLength: 5},
	{Name: "n", Type: bigquery.IntegerFieldType},
}

// Rows of a schema in their wire form.
type rowMaker struct {
	message    protoreflect.MessageDescriptor
	descriptor *descriptorpb.DescriptorProto
}

func rowMakerOf(t *testing.T, schema bigquery.Schema) rowMaker {
	t.Helper()
	stored, err := adapt.BQSchemaToStorageTableSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := adapt.StorageSchemaToProto2Descriptor(stored, "root")
	if err != nil {
		t.Fatal(err)
	}
	message := descriptor.(protoreflect.MessageDescriptor)
	normalized, err := adapt.NormalizeDescriptor(message)
	if err != nil {
		t.Fatal(err)
	}
	return rowMaker{message, normalized}
}

func (maker rowMaker) row(t *testing.T, name string, n int64) []byte {
	t.Helper()
	row := dynamicpb.NewMessage(maker.message)
	row.Set(maker.message.Fields().ByName("name"), protoreflect.ValueOfString(name))
	row.Set(maker.message.Fields().ByName("n"), protoreflect.ValueOfInt64(n))
	bytes, err := proto.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func nameOf(table *bigquery.Table) string {
	return managedwriter.TableParentFromParts(table.ProjectID, table.DatasetID, table.TableID)
}

func openStream(t *testing.T, client *managedwriter.Client, table *bigquery.Table, maker rowMaker,
	kind managedwriter.StreamType) *managedwriter.ManagedStream {
	t.Helper()
	// The stream lives as long as its context.
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := client.NewManagedStream(ctx, managedwriter.WithDestinationTable(nameOf(table)),
		managedwriter.WithType(kind), managedwriter.WithSchemaDescriptor(maker.descriptor))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stream.Close()
		cancel()
	})
	return stream
}

// Appends rows and answers the offset that they went to.
func appendRows(t *testing.T, stream *managedwriter.ManagedStream, rows [][]byte,
	options ...managedwriter.AppendOption) int64 {
	t.Helper()
	result, err := stream.AppendRows(callContext(t), rows, options...)
	if err != nil {
		t.Fatal(err)
	}
	offset, err := result.GetResult(callContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

func expectRows(t *testing.T, table *bigquery.Table, expected string) {
	t.Helper()
	if found := rowsOf(t, table); found != expected {
		t.Errorf("expected %q, found %q", expected, found)
	}
}

func storageErrorOf(t *testing.T, err error) storagepb.StorageError_StorageErrorCode {
	t.Helper()
	apiError, ok := apierror.FromError(err)
	if !ok {
		t.Fatalf("no error of the API: %v", err)
	}
	storageError := &storagepb.StorageError{}
	if err := apiError.Details().ExtractProtoMessage(storageError); err != nil {
		t.Fatalf("no StorageError in %v: %v", apiError, err)
	}
	return storageError.GetCode()
}

func TestDefaultStreamShowsRowsAtOnceAndRefusesARequestWhole(t *testing.T) {
	table := makeTable(t, makeDataset(t, restClient(t), "default_stream"), "t", people)
	maker := rowMakerOf(t, people)
	stream := openStream(t, writerClient(t), table, maker, managedwriter.DefaultStream)
	appendRows(t, stream, [][]byte{maker.row(t, "a", 1), maker.row(t, "b", 2)})
	expectRows(t, table, "[a 1][b 2]")

	result, err := stream.AppendRows(callContext(t),
		[][]byte{maker.row(t, "c", 3), maker.row(t, "too long", 4), maker.row(t, "longer", 5)})
	if err != nil {
		t.Fatal(err)
	}
	response, err := result.FullResponse(callContext(t))
	if status.Code(err) != codes.InvalidArgument || len(response.GetRowErrors()) != 2 ||
		response.GetRowErrors()[0].GetIndex() != 1 || response.GetRowErrors()[1].GetIndex() != 2 {
		t.Errorf("unexpected: %v, %v", err, response)
	}
	appendRows(t, stream, [][]byte{maker.row(t, "c", 3)})
	expectRows(t, table, "[a 1][b 2][c 3]")
}

func TestMissingTableIsMasked(t *testing.T) {
	table := makeDataset(t, restClient(t), "masked").Table("absent")
	_, err := writerClient(t).NewManagedStream(callContext(t), managedwriter.WithDestinationTable(nameOf(table)),
		managedwriter.WithType(managedwriter.CommittedStream),
		managedwriter.WithSchemaDescriptor(rowMakerOf(t, people).descriptor))
	if status.Code(err) != codes.PermissionDenied || !regexp.MustCompile("may not exist").MatchString(err.Error()) {
		t.Errorf("unexpected: %v", err)
	}
}

func TestCommittedStreamKeepsItsOffsets(t *testing.T) {
	table := makeTable(t, makeDataset(t, restClient(t), "committed"), "t", people)
	maker := rowMakerOf(t, people)
	stream := openStream(t, writerClient(t), table, maker, managedwriter.CommittedStream)
	if offset := appendRows(t, stream, [][]byte{maker.row(t, "a", 1), maker.row(t, "b", 2)},
		managedwriter.WithOffset(0)); offset != 0 {
		t.Errorf("offset %d", offset)
	}
	if offset := appendRows(t, stream, [][]byte{maker.row(t, "c", 3)}, managedwriter.WithOffset(2)); offset != 2 {
		t.Errorf("offset %d", offset)
	}
	for offset, expected := range map[int64]storagepb.StorageError_StorageErrorCode{
		1: storagepb.StorageError_OFFSET_ALREADY_EXISTS,
		9: storagepb.StorageError_OFFSET_OUT_OF_RANGE,
	} {
		result, err := stream.AppendRows(callContext(t), [][]byte{maker.row(t, "x", 0)}, managedwriter.WithOffset(offset))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = result.GetResult(callContext(t)); storageErrorOf(t, err) != expected {
			t.Errorf("offset %d: %v", offset, err)
		}
	}
	expectRows(t, table, "[a 1][b 2][c 3]")
	if count, err := stream.Finalize(callContext(t)); err != nil || count != 3 {
		t.Errorf("finalized with %d rows: %v", count, err)
	}
}

func TestBufferedStreamShowsWhatIsFlushed(t *testing.T) {
	table := makeTable(t, makeDataset(t, restClient(t), "buffered"), "t", people)
	maker := rowMakerOf(t, people)
	stream := openStream(t, writerClient(t), table, maker, managedwriter.BufferedStream)
	appendRows(t, stream, [][]byte{maker.row(t, "a", 1), maker.row(t, "b", 2), maker.row(t, "c", 3)})
	expectRows(t, table, "")
	for _, flush := range []struct {
		offset int64
		rows   string
	}{{0, "[a 1]"}, {2, "[a 1][b 2][c 3]"}} {
		if offset, err := stream.FlushRows(callContext(t), flush.offset); err != nil || offset != flush.offset {
			t.Fatalf("flushed to %d: %v", offset, err)
		}
		expectRows(t, table, flush.rows)
	}
	if _, err := stream.FlushRows(callContext(t), 1); status.Code(err) != codes.AlreadyExists {
		t.Errorf("unexpected: %v", err)
	}
}

func TestPendingStreamsAreCommittedTogether(t *testing.T) {
	table := makeTable(t, makeDataset(t, restClient(t), "pending"), "t", people)
	maker := rowMakerOf(t, people)
	client := writerClient(t)
	request := &storagepb.BatchCommitWriteStreamsRequest{Parent: nameOf(table)}
	for n, name := range []string{"a", "b"} {
		stream := openStream(t, client, table, maker, managedwriter.PendingStream)
		appendRows(t, stream, [][]byte{maker.row(t, name, int64(n))}, managedwriter.WithOffset(0))
		request.WriteStreams = append(request.WriteStreams, stream.StreamName())
		if n == 0 {
			response, err := client.BatchCommitWriteStreams(callContext(t), request)
			if err == nil && len(response.GetStreamErrors()) == 0 {
				t.Error("a stream that was not finalized was committed")
			}
		}
		if count, err := stream.Finalize(callContext(t)); err != nil || count != 1 {
			t.Errorf("finalized with %d rows: %v", count, err)
		}
	}
	expectRows(t, table, "")
	response, err := client.BatchCommitWriteStreams(callContext(t), request)
	if err != nil || len(response.GetStreamErrors()) != 0 || response.GetCommitTime() == nil {
		t.Fatalf("unexpected: %v, %v", response, err)
	}
	expectRows(t, table, "[a 0][b 1]")
}

func TestWriterIsToldOfAColumnThatWasAdded(t *testing.T) {
	table := makeTable(t, makeDataset(t, restClient(t), "updated_schema"), "t", people)
	maker := rowMakerOf(t, people)
	stream := openStream(t, writerClient(t), table, maker, managedwriter.DefaultStream)
	appendRows(t, stream, [][]byte{maker.row(t, "a", 1)})
	grown := append(people[:2:2], &bigquery.FieldSchema{Name: "added", Type: bigquery.DateFieldType})
	if _, err := table.Update(callContext(t), bigquery.TableMetadataToUpdate{Schema: grown}, ""); err != nil {
		t.Fatal(err)
	}
	result, err := stream.AppendRows(callContext(t), [][]byte{maker.row(t, "b", 2)})
	if err != nil {
		t.Fatal(err)
	}
	updated, err := result.UpdatedSchema(callContext(t))
	if err != nil || updated == nil || len(updated.GetFields()) != 3 || updated.GetFields()[2].GetName() != "added" {
		t.Errorf("unexpected: %v, %v", updated, err)
	}
	expectRows(t, table, "[a 1 <nil>][b 2 <nil>]")
	if result, err = stream.AppendRows(callContext(t), [][]byte{maker.row(t, "c", 3)}); err != nil {
		t.Fatal(err)
	}
	if again, err := result.UpdatedSchema(callContext(t)); err != nil || again != nil {
		t.Errorf("told twice: %v, %v", again, err)
	}
}
