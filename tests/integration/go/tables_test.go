package integration

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/civil"
	"google.golang.org/api/iterator"
)

func TestDatasetChangesUnderItsEtag(t *testing.T) {
	dataset := makeDataset(t, restClient(t), "changing")
	before, err := dataset.Metadata(callContext(t))
	if err != nil {
		t.Fatal(err)
	}
	update := bigquery.DatasetMetadataToUpdate{Description: "text"}
	update.SetLabel("team", "data")
	after, err := dataset.Update(callContext(t), update, before.ETag)
	if err != nil {
		t.Fatal(err)
	}
	if after.Description != "text" || after.Labels["team"] != "data" || after.ETag == before.ETag ||
		after.Location != "EU" {
		t.Errorf("unexpected: %+v", after)
	}
	_, err = dataset.Update(callContext(t), update, before.ETag)
	expectRestError(t, err, 412, "conditionNotMet", "Precondition check failed")
	if err := dataset.DeleteWithContents(callContext(t)); err != nil {
		t.Error(err)
	}
	_, err = dataset.Metadata(callContext(t))
	expectRestError(t, err, 404, "notFound", "Not found: Dataset go-project:changing")
}

func TestTableChangesByTheServicesRules(t *testing.T) {
	dataset := makeDataset(t, restClient(t), "rules")
	table := makeTable(t, dataset, "t", bigquery.Schema{
		{Name: "id", Type: bigquery.IntegerFieldType, Required: true},
		{Name: "name", Type: bigquery.StringFieldType, MaxLength: 5},
	})
	before, err := table.Metadata(callContext(t))
	if err != nil {
		t.Fatal(err)
	}
	grown := bigquery.Schema{
		{Name: "id", Type: bigquery.IntegerFieldType},
		{Name: "name", Type: bigquery.StringFieldType, MaxLength: 9},
		{Name: "tags", Type: bigquery.StringFieldType, Repeated: true},
	}
	update := bigquery.TableMetadataToUpdate{
		Description:    "words",
		Schema:         grown,
		Clustering:     &bigquery.Clustering{Fields: []string{"name"}},
		ExpirationTime: time.Now().Add(time.Hour),
	}
	after, err := table.Update(callContext(t), update, before.ETag)
	if err != nil {
		t.Fatal(err)
	}
	if after.Description != "words" || len(after.Schema) != 3 || after.Schema[0].Required ||
		after.Schema[1].MaxLength != 9 || after.Clustering.Fields[0] != "name" || after.ExpirationTime.IsZero() {
		t.Errorf("unexpected: %+v", after)
	}
	_, err = table.Update(callContext(t), bigquery.TableMetadataToUpdate{Name: "n"}, before.ETag)
	expectRestError(t, err, 412, "conditionNotMet", "Precondition check failed")

	for _, refused := range []struct {
		schema  bigquery.Schema
		message string
	}{
		{grown[:2], "Field tags is missing in new schema"},
		{bigquery.Schema{{Name: "id", Type: bigquery.StringFieldType}, grown[1], grown[2]},
			"Field id has changed type from INTEGER to STRING"},
		{bigquery.Schema{grown[0], {Name: "name", Type: bigquery.StringFieldType, MaxLength: 3}, grown[2]},
			`changed type from STRING\(9\) to STRING\(3\)`},
		{append(grown[:3:3], &bigquery.FieldSchema{Name: "must", Type: bigquery.DateFieldType, Required: true}),
			"Cannot add required fields to an existing schema"},
	} {
		_, err = table.Update(callContext(t), bigquery.TableMetadataToUpdate{Schema: refused.schema}, "")
		expectRestError(t, err, 400, "invalid", refused.message)
	}
}

func TestTablesAreListedPageByPage(t *testing.T) {
	dataset := makeDataset(t, restClient(t), "pages")
	for _, name := range []string{"c", "a", "b"} {
		makeTable(t, dataset, name, bigquery.Schema{{Name: "x", Type: bigquery.DateFieldType}})
	}
	tables := dataset.Tables(callContext(t))
	tables.PageInfo().MaxSize = 2
	names := ""
	for {
		table, err := tables.Next()
		if err == iterator.Done {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names += table.TableID
	}
	if names != "abc" {
		t.Errorf("found %q", names)
	}
}

type sale struct {
	ID    int64
	Name  bigquery.NullString
	At    time.Time
	Day   civil.Date
	Price *big.Rat
	Raw   []byte
	Tags  []string
	Size  struct{ W float64 }
}

func TestInsertedRowsComeBack(t *testing.T) {
	dataset := makeDataset(t, restClient(t), "inserted")
	schema, err := bigquery.InferSchema(sale{})
	if err != nil {
		t.Fatal(err)
	}
	table := makeTable(t, dataset, "t", schema)
	in := sale{
		ID: 1, Name: bigquery.NullString{StringVal: "na\u00efve", Valid: true},
		At:  time.Date(2026, 7, 26, 1, 2, 3, 456789000, time.UTC),
		Day: civil.Date{Year: 2026, Month: 7, Day: 26}, Price: big.NewRat(5, 4), Raw: []byte{0, 255},
		Tags: []string{"a", "b"},
	}
	in.Size.W = 2.5
	if err := table.Inserter().Put(callContext(t), []sale{in}); err != nil {
		t.Fatal(err)
	}
	var out sale
	if err := table.Read(callContext(t)).Next(&out); err != nil {
		t.Fatal(err)
	}
	if out.ID != 1 || out.Name != in.Name || !out.At.Equal(in.At) || out.Day != in.Day ||
		out.Price.Cmp(in.Price) != 0 || string(out.Raw) != string(in.Raw) || len(out.Tags) != 2 || out.Size != in.Size {
		t.Errorf("unexpected: %+v", out)
	}
}

func TestBadRowsOfAnInsertAreTold(t *testing.T) {
	dataset := makeDataset(t, restClient(t), "refused")
	table := makeTable(t, dataset, "t", bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType, Required: true}})
	rows := []*bigquery.ValuesSaver{}
	for _, value := range []bigquery.Value{1, "x", 3} {
		rows = append(rows, &bigquery.ValuesSaver{
			Schema: bigquery.Schema{{Name: "id", Type: bigquery.StringFieldType}}, Row: []bigquery.Value{value}})
	}
	err := table.Inserter().Put(callContext(t), rows)
	var refused bigquery.PutMultiError
	if !errors.As(err, &refused) || len(refused) != 3 {
		t.Fatalf("unexpected: %v", err)
	}
	for i, reason := range []string{"stopped", "invalid", "stopped"} {
		var one *bigquery.Error
		if refused[i].RowIndex != i || !errors.As(refused[i].Errors[0], &one) || one.Reason != reason {
			t.Errorf("row %d: %v", i, refused[i])
		}
	}
	if found := rowsOf(t, table); found != "" {
		t.Errorf("found %s", found)
	}
	inserter := table.Inserter()
	inserter.SkipInvalidRows = true
	if err := inserter.Put(callContext(t), rows); !errors.As(err, &refused) || len(refused) != 1 {
		t.Errorf("unexpected: %v", err)
	}
	if found := rowsOf(t, table); found != "[1][3]" {
		t.Errorf("found %s", found)
	}
}
